// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

import java.util.List;

/**
 * Curves with common axes.
 *
 * @param name a file name without its extension
 * @param title the title
 * @param x the x axis
 * @param y the y axis
 * @param curves the curves, in the order of the legend
 */
public record Plot(String name, String title, Axis x, Axis y, List<Curve> curves) {

  /**
   * One curve.
   *
   * @param name its name in the legend
   * @param colour its colour; curves of one colour belong together
   * @param style how it is drawn
   * @param dots its points, from left to right
   */
  public record Curve(String name, int colour, Style style, List<Dot> dots) {}

  /** How a curve is drawn. */
  public enum Style {
    /** Measured values: a line with a dot at each. */
    MEASURED,
    /** Secondary values, such as a high percentile: drawn like measured values, but fainter. */
    BESIDE,
    /** A model's prediction: a dashed line. */
    MODEL
  }

  /**
   * One point.
   *
   * @param x the x coordinate
   * @param y the y coordinate, a median
   * @param low the minimum
   * @param high the maximum
   */
  public record Dot(double x, double y, double low, double high) {

    /**
     * Creates a point without a spread.
     *
     * @param x the x coordinate
     * @param y the y coordinate
     */
    public Dot(double x, double y) {
      this(x, y, y, y);
    }
  }

  /** {@return whether no curve has a point} */
  public boolean isEmpty() {
    return curves.stream().allMatch(curve -> curve.dots().isEmpty());
  }
}
