// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

import java.util.List;

/**
 * Curves over one axis.
 *
 * @param name a file name without its extension
 * @param title what is shown
 * @param x the axis to the right
 * @param y the axis upwards
 * @param curves the curves, in the order of the legend
 */
public record Plot(String name, String title, Axis x, Axis y, List<Curve> curves) {

  /**
   * One curve.
   *
   * @param name what it is, for the legend
   * @param colour which colour; curves of one colour belong together
   * @param style how it is drawn
   * @param dots its points, from left to right
   */
  public record Curve(String name, int colour, Style style, List<Dot> dots) {}

  /** How a curve is drawn. */
  public enum Style {
    /** What was measured: a line with a dot at each measurement. */
    MEASURED,
    /** What goes with it, such as a high percentile: the same, fainter. */
    BESIDE,
    /** What a model says: a dashed line. */
    MODEL
  }

  /**
   * One point.
   *
   * @param x how far to the right
   * @param y how far up
   * @param low the least of what this is the median of
   * @param high the greatest
   */
  public record Dot(double x, double y, double low, double high) {

    /**
     * A point without a spread.
     *
     * @param x how far to the right
     * @param y how far up
     */
    public Dot(double x, double y) {
      this(x, y, y, y);
    }
  }

  /**
   * Returns whether there is nothing to draw.
   *
   * @return true if no curve has a point
   */
  public boolean isEmpty() {
    return curves.stream().allMatch(curve -> curve.dots().isEmpty());
  }
}
