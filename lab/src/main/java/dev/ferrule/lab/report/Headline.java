// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.report;

import java.util.List;

/**
 * The most important figures of a report.
 *
 * @param title the provider measured
 */
public record Headline(String title, List<Tile> tiles, Trust trust, List<String> reasons) {

  /**
   * One figure.
   *
   * @param where the point where it was measured
   */
  public record Tile(String label, String value, String where) {}

  /** How far a run can be trusted; the reasons are stated beside it. */
  public enum Trust {
    /** The figures are reproducible on this machine. */
    HIGH("Trust: high."),
    /** The figures show large differences only. */
    FAIR("Trust: fair."),
    /** The figures are not reliable. */
    LOW("Trust: low.");

    private final String words;

    Trust(String words) {
      this.words = words;
    }

    public String words() {
      return words;
    }
  }
}
