// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.evaluate;

import dev.ferrule.tools.report.Plot;
import java.util.List;

/**
 * A curve of an experiment.
 *
 * @param name what it is, for the legend
 * @param colour which colour; the model's line gets the same
 * @param style how it is drawn
 * @param figure which figure of its tasks is shown
 * @param model what it has to do with the model
 * @param samples its points
 */
public record Series(
    String name, int colour, Plot.Style style, Figure figure, Model model, List<Sample> samples) {

  /** What a curve has to do with the model. */
  public enum Model {
    /** The model does not have what it is about. */
    NONE,
    /** The model's line is shown with it. */
    PREDICTED,
    /** So it is, and the model's parameters are such that they explain these points, too. */
    FITTED
  }

  /**
   * One point of a curve.
   *
   * @param x how far to the right
   * @param task what is measured there
   */
  public record Sample(double x, Task task) {}

  /**
   * A measured line without a model.
   *
   * @param name what it is
   * @param colour which colour
   * @param figure which figure of its tasks is shown
   * @param samples its points
   * @return the series
   */
  public static Series measured(String name, int colour, Figure figure, List<Sample> samples) {
    return new Series(name, colour, Plot.Style.MEASURED, figure, Model.NONE, samples);
  }

  /** Returns whether its spread is shown, and counts. */
  boolean isMeasured() {
    return style == Plot.Style.MEASURED;
  }

  /** The same with the model's line, and for the model to be fitted to. */
  Series forModel() {
    return new Series(name, colour, style, figure, Model.FITTED, samples);
  }

  /** The same with the model's line. */
  Series withModel() {
    return new Series(name, colour, style, figure, Model.PREDICTED, samples);
  }
}
