// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Ferrule;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.Option;
import dev.ferrule.tools.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** docs/sources.md: each row of a table names a place in Ferrule, and each name exists. */
class SourcesTest {

  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final Pattern CLASS = Pattern.compile("([A-Z]\\w+)(?:\\.(\\w+))?");
  private static final Pattern OPTION = Pattern.compile("([a-z]\\w*)(?:=(\\w+))?");
  private static final Pattern FLAG = Pattern.compile("--[a-z][a-z-]*");

  private static final Pattern SHOWING =
      Pattern.compile("(ferrule|--).*|\\w+(Test|Contract|Stress)(\\.\\w+)?");

  /** The help of the commands that measure. The page names their flags without the command. */
  private static final String HELP_OF_ALL =
      run("evaluate", "--help") + run("latency", "--help") + run("serve", "--help");

  private static final String EXPERIMENTS = run("evaluate", "--list");

  private static final Map<String, String> SOURCES = new HashMap<>(); // by class

  @BeforeAll
  static void read() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> ROOT.relativize(file).toString().contains("src/"))
          .filter(file -> !ROOT.relativize(file).toString().contains("target/"))
          .forEach(file ->
              SOURCES.merge(
                  file.getFileName().toString().replace(".java", ""), text(file), String::concat));
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * A row of a table of comparisons.
   *
   * @param provider the section's provider
   * @param place the place in Ferrule
   * @param shownBy the test, command or measurement that shows it
   */
  private record Row(String provider, String place, String shownBy) {}

  private static List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    String page = text(ROOT.resolve("docs/sources.md"));
    String provider = "";
    for (String line : page.substring(page.indexOf("\n## sm")).lines().toList()) {
      if (line.startsWith("## ")) {
        provider = line.substring("## ".length());
      }
      if (!line.startsWith("|")) {
        continue;
      }
      String[] cells = line.split("\\|");
      assertThat(cells).as(line).hasSize(4);
      if (cells[1].startsWith(" ---")) {
        rows.remove(rows.size() - 1); // the head of the table
      } else {
        rows.add(new Row(provider, cells[2], cells[3]));
      }
    }
    return rows;
  }

  private static List<String> names(String place) {
    return CODE.matcher(place).results().map(found -> found.group(1)).toList();
  }

  /** Returns whether a class declares a method or a constant. */
  private static boolean declares(String type, String member) {
    String before = "(?m)^ *(?:[\\w.<>\\[\\]?, @]+ )?";
    String after = member.equals(member.toUpperCase(Locale.ROOT)) ? "(?: *[=,;(]|$)" : "\\(";
    return Pattern.compile(before + member + after).matcher(SOURCES.getOrDefault(type, "")).find();
  }

  private static boolean exists(String provider, String name, List<Option<?>> options) {
    if (name.startsWith("ferrule ") || name.startsWith("--")) {
      return isCommand(provider, name);
    }
    Matcher type = CLASS.matcher(name);
    if (type.matches() && SOURCES.containsKey(type.group(1))) {
      return type.group(2) == null || declares(type.group(1), type.group(2));
    }
    if (name.matches("[A-Z_]+")) {
      return declares("HandshakeMessage", name);
    }
    Matcher word = OPTION.matcher(name);
    return word.matches()
        && options.stream()
            .anyMatch(option ->
                option.name().equals(word.group(1)) && isValue(option, word.group(2))
                    || List.of(option.syntax().split("[^\\w-]+")).contains(name));
  }

  private static boolean isValue(Option<?> option, @Nullable String text) {
    try {
      return text == null || option.parse(text) != null;
    } catch (InvalidOptionException e) {
      return false;
    }
  }

  /**
   * Returns whether a command exists, with its flags and experiment; flags alone may be of any
   * command that measures.
   */
  private static boolean isCommand(String provider, String line) {
    Matcher command = Pattern.compile("ferrule ([\\w-]+)").matcher(line);
    String help = command.find() ? run(command.group(1), "--help") : HELP_OF_ALL;
    Matcher experiment = Pattern.compile("--only ([\\w-]+)").matcher(line);
    return (!experiment.find() || isExperiment(provider, experiment.group(1)))
        && FLAG.matcher(line)
            .results()
            .allMatch(flag -> Pattern.compile(flag.group() + "\\b").matcher(help).find());
  }

  /** Returns whether a provider has an experiment that is not skipped. */
  private static boolean isExperiment(String provider, String id) {
    return Pattern.compile("(?m)^" + provider + " +" + id + " +(?! |skipped)")
        .matcher(EXPERIMENTS)
        .find();
  }

  /** Returns the output of a command; fails if there is no such command. */
  private static String run(String... arguments) {
    StringWriter output = new StringWriter();
    StringWriter errors = new StringWriter();
    int code = Main.run(new PrintWriter(output), new PrintWriter(errors, true), arguments);
    assertThat(code).as("ferrule %s: %s", List.of(arguments), errors).isZero();
    return output.toString();
  }

  @Test
  void everyNameInTheTablesExists() {
    List<Option<?>> options =
        Ferrule.providers().stream().flatMap(provider -> provider.options().stream()).toList();
    List<String> unknown =
        rows().stream()
            .flatMap(row ->
                names(row.place() + row.shownBy()).stream()
                    .filter(name -> !exists(row.provider(), name, options)))
            .distinct()
            .toList();
    assertThat(unknown).isEmpty();
  }

  @Test
  void aNameThatDoesNotExistIsDetected() {
    List<Option<?>> options =
        Ferrule.providers().stream().flatMap(provider -> provider.options().stream()).toList();
    assertThat(
            List.of(
                "NoSuchTest",
                "Receiver.tryToReceive",
                "Receiver.messages", // a word in its javadoc, not a method
                "noOption",
                "wait=hurry",
                "NO_MESSAGE",
                "ferrule evaluate --simplex",
                "ferrule evaluate --only nothing",
                "ferrule evaluate --only magic")) // an experiment of magicring only
        .noneMatch(name -> exists("sendrecv", name, options));
  }

  @Test
  void eachRowHasAPlace() {
    assertThat(rows()).hasSizeGreaterThan(80);
    assertThat(rows())
        .allMatch(row ->
            !names(row.place()).isEmpty()
                || row.place().contains("the same experiment")
                || row.place().contains("]("));
  }

  @Test
  void eachRowIsShownByATestACommandOrAMeasurement() {
    assertThat(rows())
        .allMatch(row ->
            row.shownBy().contains("](")
                || names(row.shownBy()).stream().anyMatch(SHOWING.asMatchPredicate()));
  }
}
