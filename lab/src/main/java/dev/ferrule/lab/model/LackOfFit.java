// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.hipparchus.distribution.continuous.FDistribution;

/**
 * Whether a model is off by more than the noise of its measurements explains: the variance of the
 * predictions' deviations over that of the medians they are compared with, which the rounds of each
 * point show (an F test, with the logarithms). The rounds of one experiment follow each other, so a
 * change of the machine between two experiments is not part of that noise.
 *
 * @param statistic the ratio of the variances; about 1 if the model is right
 * @param limit the 95 % limit of the ratio
 * @param noise the factor by which a median of rounds is typically off
 */
public record LackOfFit(double statistic, double limit, double noise) {

  private static final double CONFIDENCE = 0.95;

  /** The variance of the median of many normal values over that of their mean. */
  private static final double MEDIAN = Math.PI / 2;

  /**
   * Compares the deviations of a model with the noise.
   *
   * @param rounds the values of the rounds of each point that the model was fitted to
   * @param fit the model
   * @return the comparison; empty without a second round, or with no more points than parameters
   */
  public static Optional<LackOfFit> of(List<List<Double>> rounds, FitResult fit) {
    int points = rounds.size();
    int freedom = points - fit.fitted();
    int repetitions = rounds.stream().mapToInt(values -> values.size() - 1).sum();
    if (freedom < 1 || repetitions < 1) {
      return Optional.empty();
    }
    double single =
        Math.max(
            Identifiability.LEAST_DEVIATION * Identifiability.LEAST_DEVIATION,
            rounds.stream().mapToDouble(LackOfFit::squares).sum() / repetitions);
    double median = rounds.stream().mapToDouble(values -> single * share(values.size())).sum();
    double off = fit.relativeError() * fit.relativeError() * points / freedom;
    return Optional.of(
        new LackOfFit(
            off / (median / points),
            new FDistribution(freedom, repetitions).inverseCumulativeProbability(CONFIDENCE),
            Math.exp(Math.sqrt(median / points))));
  }

  /** Returns the sum of the squares of the deviations from the mean. */
  private static double squares(List<Double> values) {
    double mean = values.stream().mapToDouble(Math::log).average().orElseThrow();
    return values.stream().mapToDouble(value -> Math.pow(Math.log(value) - mean, 2)).sum();
  }

  /** Returns the variance of a median over that of a single value, at most. */
  private static double share(int values) {
    return (values > 2 ? MEDIAN : 1) / values;
  }

  /**
   * Returns whether the noise explains the deviations.
   *
   * @return true if the model need not be rejected
   */
  public boolean fits() {
    return statistic <= limit;
  }

  /**
   * Describes the comparison.
   *
   * @return a sentence
   */
  public String text() {
    return String.format(
        Locale.ROOT,
        "%s: within an experiment the medians of the rounds are uncertain by a factor of %.2f (lack"
            + " of fit: F = %.1f, 95 %% limit %.1f).",
        fits()
            ? "The model fits: its deviations are no greater than the noise explains"
            : "The model does not fit: its deviations are greater than the noise explains",
        noise,
        statistic,
        limit);
  }
}
