// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

import java.util.List;

/**
 * What most readers of a report have come for.
 *
 * @param title whose figures these are
 * @param tiles a few figures
 * @param trust how far to trust them
 * @param reasons why, in a sentence each
 */
public record Headline(String title, List<Tile> tiles, Trust trust, List<String> reasons) {

  /**
   * One figure.
   *
   * @param label what it is
   * @param value the figure, with its unit
   * @param where at which point it was measured
   */
  public record Tile(String label, String value, String where) {}

  /** How far to trust a run. */
  public enum Trust {
    /** Figures of this machine. */
    HIGH("Trust: high."),
    /** Good enough to see what is faster by far. */
    FAIR("Trust: fair."),
    /** They say little. */
    LOW("Trust: low.");

    private final String words;

    Trust(String words) {
      this.words = words;
    }

    /**
     * Returns what a reader is told.
     *
     * @return a sentence
     */
    public String words() {
      return words;
    }
  }
}
