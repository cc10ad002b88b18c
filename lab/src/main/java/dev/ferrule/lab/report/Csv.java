// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.report;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Comma-separated values, as in RFC 4180 except for line terminators. */
public final class Csv {

  private Csv() {}

  /**
   * Formats rows, each from column to value. The header has all columns in the order of first
   * occurrence.
   */
  public static String format(List<Map<String, String>> rows) {
    Set<String> columns = new LinkedHashSet<>();
    rows.forEach(row -> columns.addAll(row.keySet()));
    StringBuilder text = new StringBuilder();
    text.append(columns.stream().map(Csv::quoted).collect(Collectors.joining(","))).append('\n');
    for (Map<String, String> row : rows) {
      text.append(
              columns.stream()
                  .map(column -> quoted(row.getOrDefault(column, "")))
                  .collect(Collectors.joining(",")))
          .append('\n');
    }
    return text.toString();
  }

  private static String quoted(String value) {
    boolean plain = value.chars().noneMatch(letter -> ",\"\n\r".indexOf(letter) >= 0);
    return plain ? value : '"' + value.replace("\"", "\"\"") + '"';
  }
}
