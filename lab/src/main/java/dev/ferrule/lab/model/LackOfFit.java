// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A test of whether a model is off by more than the noise of its measurements explains. Each
 * experiment is tested by itself: its deviations are compared with those that the noise of all
 * experiments would leave in it after the fit, if the model were right. The noise of one experiment
 * therefore does not hide a wrong curve in another. The rounds of one experiment are consecutive,
 * so a change of the machine between two experiments is not part of that noise.
 */
public record LackOfFit(List<Part> parts) {

  /** The noise is too great for a test if it explains predictions that are off by this factor. */
  private static final double GREAT = 1.25;

  /** A greater limit is reported as none. */
  private static final double HUGE = 100;

  /**
   * A point that the model was fitted to.
   *
   * @param observation the median of its rounds
   * @param rounds the rounds, as times or as rates
   */
  public record Point(String experiment, Observation observation, List<Double> rounds) {

    public Point {
      rounds = List.copyOf(rounds);
    }
  }

  /**
   * The deviations in one experiment.
   *
   * @param off the factor by which the predictions are off, as a root mean square; 1 is exact
   * @param limit the factor that the noise explains, its 95 % limit
   */
  public record Part(String experiment, double off, double limit) {

    private boolean isExplained() {
      return off <= limit;
    }

    private boolean isNoisy() {
      return limit > GREAT;
    }

    private String text() {
      return limit > HUGE
          ? String.format(Locale.ROOT, "%.2f in %s (no limit)", off, experiment)
          : String.format(Locale.ROOT, "%.2f in %s (95 %% limit %.2f)", off, experiment, limit);
    }
  }

  public LackOfFit {
    parts = List.copyOf(parts);
  }

  /**
   * Returns the comparison of a model's deviations with the noise; empty if no point has a second
   * round, or if there are no more points than parameters.
   */
  public static Optional<LackOfFit> of(List<Point> points, FitResult fit) {
    if (points.stream().allMatch(point -> point.rounds().size() < 2)) {
      return Optional.empty();
    }
    List<Part> parts = new Deviations(points, fit).parts();
    return parts.isEmpty() ? Optional.empty() : Optional.of(new LackOfFit(parts));
  }

  /** {@return whether the noise explains the deviations: true if the model need not be rejected} */
  public boolean isExplained() {
    return parts.stream().allMatch(Part::isExplained);
  }

  /**
   * {@return whether the noise would explain even a model that is far off: true if a model that is
   * not rejected need not be right}
   */
  public boolean isNoisy() {
    return parts.stream().anyMatch(Part::isNoisy);
  }

  public String text() {
    if (!isExplained()) {
      return "The model does not fit: its predictions are off by more than the noise of the rounds"
          + " explains, by a factor of "
          + factors(parts.stream().filter(part -> !part.isExplained()).toList())
          + ".";
    }
    return isNoisy()
        ? "The noise of the rounds is too great to reject the model, whose predictions are off by a"
            + " factor of "
            + factors(parts.stream().filter(Part::isNoisy).toList())
            + "."
        : "The deviations of the model are within the noise of the rounds: its predictions are off"
            + " by a factor of "
            + factors(parts)
            + ".";
  }

  private static String factors(List<Part> some) {
    return some.stream().map(Part::text).collect(Collectors.joining(", "));
  }
}
