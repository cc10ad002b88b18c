// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import dev.ferrule.tools.report.Plot;
import java.util.List;

/**
 * A curve of an experiment.
 *
 * @param name its name in the legend
 * @param colour its colour; the model's line has the same
 */
public record Series(
    String name, int colour, Plot.Style style, Metric metric, Model model, List<Sample> samples) {

  /** The relation of a curve to the model. */
  public enum Model {
    /** The model does not cover it. */
    NONE,
    /** The model's line is shown beside it. */
    PREDICTED,
    /** The model is fitted to its points, and the model's line is shown beside it. */
    FITTED
  }

  /** A point of a curve. */
  public record Sample(double x, Task task) {}

  /** Creates a measured line without a model. */
  public static Series measured(String name, int colour, Metric metric, List<Sample> samples) {
    return new Series(name, colour, Plot.Style.MEASURED, metric, Model.NONE, samples);
  }

  /** Returns whether the spread of its rounds is assessed. */
  boolean isMeasured() {
    return style == Plot.Style.MEASURED;
  }
}
