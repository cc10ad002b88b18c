// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Ferrule;
import dev.ferrule.Option;
import dev.ferrule.ProviderInfo;
import dev.ferrule.StandardOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** docs/options.md lists the options of the providers, with their defaults and ranges. */
class OptionsPageTest {

  private static final String ALL = "All providers";
  private static final String RDMA = "sendrecv and magicring";

  /** The name of a system property of Ferrule, in Java source. */
  private static final Pattern PROPERTY = Pattern.compile("\"(ferrule\\.[A-Za-z.]+)\"");

  /** An example of a value with a number. */
  private static final Pattern VALUE = Pattern.compile("`(\\d\\w*)`");

  private record Row(String defaultValue, String range, String meaning) {}

  /** The rows of each table by name; the tables by their heading. */
  private static final Map<String, Map<String, Row>> TABLES = read();

  private static Map<String, Map<String, Row>> read() {
    Map<String, Map<String, Row>> tables = new LinkedHashMap<>();
    String heading = "";
    try {
      for (String line : Files.readAllLines(Path.of("../docs/options.md"))) {
        if (line.startsWith("## ")) {
          heading = line.substring(3);
        } else if (line.startsWith("| `")) {
          List<String> cells = Stream.of(line.split("\\|")).map(String::strip).toList();
          tables
              .computeIfAbsent(heading, key -> new LinkedHashMap<>())
              .put(plain(cells.get(1)), new Row(cells.get(2), cells.get(3), cells.getLast()));
        }
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return tables;
  }

  private static String plain(String cell) {
    return cell.replace("`", "").replaceAll("(\\d),(\\d)", "$1$2");
  }

  private static Map<String, Row> rowsOf(String scheme) {
    Map<String, Row> rows = new LinkedHashMap<>(TABLES.get(ALL));
    if (!scheme.equals("sm")) {
      rows.putAll(TABLES.get(RDMA));
    }
    rows.putAll(TABLES.get(scheme));
    return rows;
  }

  static List<ProviderInfo> providers() {
    return Ferrule.providers();
  }

  @ParameterizedTest
  @MethodSource("providers")
  void thePageHasExactlyTheOptionsOfAProvider(ProviderInfo provider) {
    assertThat(provider.options())
        .extracting(Option::name)
        .containsExactlyInAnyOrderElementsOf(rowsOf(provider.scheme()).keySet());
  }

  @ParameterizedTest
  @MethodSource("providers")
  void thePageHasTheDefaultsAndRangesOfAProvider(ProviderInfo provider) {
    assertThat(provider.options())
        .allSatisfy(option -> {
          Row row = rowsOf(provider.scheme()).get(option.name());
          assertThat(defaultOf(provider.scheme(), row)).isEqualTo(option.defaultText());
          assertThat(plain(row.range)).as(option.name()).isEqualTo(rangeOf(option));
        });
  }

  @ParameterizedTest
  @MethodSource("providers")
  void thePageMarksTheOptionsThatAQueryCannotOverride(ProviderInfo provider) {
    assertThat(provider.options())
        .allSatisfy(option ->
            assertThat(rowsOf(provider.scheme()).get(option.name()).meaning.contains("Security:"))
                .isEqualTo(!option.queryOverrides()));
  }

  /** Returns the default in a cell such as `1MiB`; RDMA: `64KiB`, for one provider. */
  private static String defaultOf(String scheme, Row row) {
    String found = "";
    for (String part : plain(row.defaultValue).split("; ")) {
      String[] labelAndValue = part.split(": ");
      String label = labelAndValue.length == 1 ? "" : labelAndValue[0];
      if (label.isEmpty() || label.equals(scheme) || label.equals("RDMA") && !scheme.equals("sm")) {
        found = labelAndValue[labelAndValue.length - 1];
      }
    }
    return found;
  }

  /** Returns the values that an option permits, without the kind of value. */
  private static String rangeOf(Option<?> option) {
    return option.syntax().replaceFirst("^(one of|.* from) ", "").replaceFirst(", such as .*", "");
  }

  @Test
  void theTableForAllProvidersHasTheStandardOptions() {
    Set<String> standard =
        StandardOptions.all().stream().map(Option::name).collect(Collectors.toSet());
    assertThat(TABLES.get(ALL).keySet()).isEqualTo(standard);
  }

  @Test
  void anOptionOfBothRdmaProvidersIsListedOnce() {
    Set<String> both = new HashSet<>(TABLES.get("sendrecv").keySet());
    both.retainAll(TABLES.get("magicring").keySet());
    assertThat(both).isEmpty();
  }

  @Test
  void thePageHasTheSystemPropertiesThatTheLibraryReads() throws IOException {
    Set<String> read = new HashSet<>();
    for (String module : Page.LIBRARY) {
      try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "main", "java"))) {
        for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
          PROPERTY
              .matcher(Files.readString(file))
              .results()
              .forEach(literal -> read.add(literal.group(1)));
        }
      }
    }
    assertThat(TABLES.get("System properties").keySet()).isEqualTo(read);
  }

  @Test
  void theSizesAndTimesThatThePageShowsAreValid() throws IOException {
    Option<Long> size = Option.size("size", 0, Long.MAX_VALUE, 0, "");
    Option<Duration> time =
        Option.duration("time", Duration.ZERO, Duration.ofDays(1), Duration.ZERO, "");
    assertThat(examplesOf("size")).hasSizeGreaterThan(4).allSatisfy(size::parse);
    assertThat(examplesOf("time")).hasSizeGreaterThan(4).allSatisfy(time::parse);
  }

  private static List<String> examplesOf(String type) throws IOException {
    return Files.readAllLines(Path.of("../docs/options.md")).stream()
        .filter(line -> line.startsWith("| " + type + " |"))
        .flatMap(line -> VALUE.matcher(line).results())
        .map(value -> value.group(1))
        .toList();
  }
}
