// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import java.util.ArrayList;
import java.util.List;

/** A text table with columns as wide as needed, aligned to the right. */
public final class TextTable {

  private static final String GAP = "  ";

  private final List<List<String>> rows = new ArrayList<>();
  private List<String> row = new ArrayList<>();

  /** Creates a table without rows. */
  public TextTable() {}

  /**
   * Adds cells to the current row.
   *
   * @param texts their texts
   */
  public void cells(String... texts) {
    row.addAll(List.of(texts));
  }

  /** Ends the current row. */
  public void endRow() {
    rows.add(row);
    row = new ArrayList<>();
  }

  @Override
  public String toString() {
    int columns = rows.stream().mapToInt(List::size).max().orElse(0);
    int[] widths = new int[columns];
    for (List<String> cells : rows) {
      for (int i = 0; i < cells.size(); i++) {
        widths[i] = Math.max(widths[i], cells.get(i).length());
      }
    }
    StringBuilder text = new StringBuilder();
    for (List<String> cells : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < cells.size(); i++) {
        line.append(i == 0 ? "" : GAP)
            .append(" ".repeat(widths[i] - cells.get(i).length()))
            .append(cells.get(i));
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }
}
