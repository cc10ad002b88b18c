// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.report;

import java.util.ArrayList;
import java.util.List;

/** Rows of text under a header. */
public final class Table {

  private final String caption;
  private final List<String> header;
  private final List<List<String>> rows = new ArrayList<>();

  public Table(String caption, List<String> header) {
    this.caption = caption;
    this.header = List.copyOf(header);
  }

  public void row(List<String> cells) {
    if (cells.size() != header.size()) {
      throw new IllegalArgumentException(cells.size() + " cells for " + header);
    }
    rows.add(List.copyOf(cells));
  }

  public String caption() {
    return caption;
  }

  /** {@return the names of the columns} */
  public List<String> header() {
    return header;
  }

  /** {@return the rows, each as long as the header} */
  public List<List<String>> rows() {
    return List.copyOf(rows);
  }
}
