// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.report;

import java.util.ArrayList;
import java.util.List;

/** Rows of text under a header, to which rows may be added; the caption may be empty. */
public record Table(String caption, List<String> header, List<List<String>> rows) {

  public Table(String caption, List<String> header) {
    this(caption, List.copyOf(header), new ArrayList<>());
  }

  /** Adds a row, with a cell for each column. */
  public void row(List<String> cells) {
    if (cells.size() != header.size()) {
      throw new IllegalArgumentException(cells.size() + " cells for " + header);
    }
    rows.add(List.copyOf(cells));
  }
}
