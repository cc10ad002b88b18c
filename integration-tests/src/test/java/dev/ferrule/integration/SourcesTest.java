// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Ferrule;
import dev.ferrule.Option;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** docs/sources.md: each row names a place, and each name in its tables exists. */
class SourcesTest {

  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final Pattern CLASS = Pattern.compile("([A-Z]\\w+)(?:\\.(\\w+))?");
  private static final Pattern OPTION = Pattern.compile("([a-z]\\w*)(?:=\\w+)?");
  private static final Pattern FLAG = Pattern.compile("--[a-z][a-z-]*");

  private static final Map<String, String> SOURCES = new HashMap<>(); // by class

  @BeforeAll
  static void read() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> ROOT.relativize(file).toString().contains("src/"))
          .filter(file -> !ROOT.relativize(file).toString().contains("target/"))
          .forEach(
              file ->
                  SOURCES.merge(
                      file.getFileName().toString().replace(".java", ""),
                      text(file),
                      String::concat));
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the second and third cell of each row of the tables that compare. */
  private static List<String> places() {
    List<String> places = new ArrayList<>();
    String page = text(ROOT.resolve("docs/sources.md"));
    for (String line : page.substring(page.indexOf("\n## sm")).lines().toList()) {
      String[] cells = line.split("\\|");
      if (cells.length == 4 && cells[1].startsWith(" ---")) {
        places.remove(places.size() - 1); // the head of the table
      } else if (cells.length == 4) {
        places.add(cells[2] + "|" + cells[3]);
      }
    }
    return places;
  }

  private static List<String> names(String place) {
    return CODE.matcher(place).results().map(found -> found.group(1)).toList();
  }

  private static boolean isMentioned(String type, String member) {
    Pattern word = Pattern.compile("\\b" + member + "\\b");
    return word.matcher(SOURCES.getOrDefault(type, "")).find();
  }

  private static boolean exists(String name, List<Option<?>> options) {
    if (name.startsWith("ferrule ") || name.startsWith("--")) {
      return isCommand(name);
    }
    Matcher type = CLASS.matcher(name);
    if (type.matches() && SOURCES.containsKey(type.group(1))) {
      return type.group(2) == null || isMentioned(type.group(1), type.group(2));
    }
    if (name.matches("[A-Z_]+")) {
      return isMentioned("HandshakeMessage", name);
    }
    Matcher word = OPTION.matcher(name);
    return word.matches()
        && options.stream()
            .anyMatch(
                option -> option.name().equals(word.group(1)) || option.syntax().contains(name));
  }

  private static boolean isCommand(String line) {
    Matcher command = Pattern.compile("ferrule (\\w+)").matcher(line);
    if (command.find()
        && SOURCES.values().stream()
            .noneMatch(source -> source.contains("name = \"" + command.group(1) + "\""))) {
      return false;
    }
    Matcher experiment = Pattern.compile("--only ([\\w-]+)").matcher(line);
    if (experiment.find() && !SOURCES.get("Catalogue").contains('"' + experiment.group(1) + '"')) {
      return false;
    }
    return FLAG.matcher(line)
        .results()
        .allMatch(
            flag ->
                SOURCES.values().stream()
                    .anyMatch(source -> source.contains("names = \"" + flag.group() + '"')));
  }

  @Test
  void everyNameInTheTablesExists() {
    List<Option<?>> options =
        Ferrule.providers().stream().flatMap(provider -> provider.options().stream()).toList();
    List<String> unknown =
        places().stream()
            .flatMap(place -> names(place).stream())
            .filter(name -> !exists(name, options))
            .distinct()
            .toList();
    assertThat(unknown).isEmpty();
  }

  @Test
  void noRowIsWithoutAPlace() {
    assertThat(places()).hasSizeGreaterThan(80);
    assertThat(places()).noneMatch(place -> names(place).isEmpty());
  }
}
