// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.report;

import dev.ferrule.tools.report.Plot;
import java.util.List;

/**
 * A section of a report.
 *
 * @param id a name for links, unique in the report
 * @param notes remarks: what is missing and why, and failures
 */
public record Section(
    String id,
    String title,
    String text,
    List<Plot> plots,
    List<Table> tables,
    List<String> notes) {

  /** Creates a section of tables. */
  public Section(String id, String title, String text, Table... tables) {
    this(id, title, text, List.of(), List.of(tables), List.of());
  }
}
