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
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** docs/options.md has the options of the providers, with their defaults and ranges. */
class OptionsPageTest {

  private static final String ALL = "All providers";
  private static final String RDMA = "sendrecv and magicring";

  private record Row(String defaultValue, String range, String meaning) {}

  /** The rows by name, by the heading of their table. */
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
          assertThat(row.defaultValue).contains("`" + inWords(option.defaultText()) + "`");
          assertThat(option.syntax().replace("true or false", "on, off"))
              .contains(plain(row.range));
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

  /** A switch may also be written so. */
  private static String inWords(String text) {
    return text.equals("true") ? "on" : text.equals("false") ? "off" : text;
  }

  @Test
  void theOptionsOfEveryProviderAreTheStandardOnes() {
    Set<String> standard =
        StandardOptions.all().stream().map(Option::name).collect(Collectors.toSet());
    assertThat(TABLES.get(ALL).keySet()).isEqualTo(standard);
  }

  @Test
  void anOptionOfBothRdmaProvidersStandsOnce() {
    Set<String> both = new HashSet<>(TABLES.get("sendrecv").keySet());
    both.retainAll(TABLES.get("magicring").keySet());
    assertThat(both).isEmpty();
  }
}
