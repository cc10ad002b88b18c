// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import java.util.List;
import java.util.OptionalDouble;

/**
 * A parameter that was measured by timing a call.
 *
 * @param nanos the time in each round, without the time of reading the clock
 * @param tickNanos the clock's tick; the rounds may have the same rounding error
 */
public record TimedCall(Parameter parameter, List<Double> nanos, double tickNanos) {

  public TimedCall {
    nanos = List.copyOf(nanos);
  }

  double mean() {
    return nanos.stream().mapToDouble(Double::doubleValue).average().orElse(0);
  }

  /** Returns the standard error of the mean over the rounds; NaN for fewer than two. */
  private double standardError() {
    int count = nanos.size();
    double mean = mean();
    double squares = nanos.stream().mapToDouble(value -> (value - mean) * (value - mean)).sum();
    return count < 2 ? Double.NaN : Math.sqrt(squares / (count - 1) / count);
  }

  /** Returns the standard error of the difference of two readings, each anywhere within a tick. */
  private double roundingError() {
    return tickNanos / Math.sqrt(6);
  }

  /** Returns the time as an estimate, with the confidence interval given by its rounds. */
  Estimate estimate() {
    double mean = mean();
    double error = standardError();
    if (Double.isNaN(error)) {
      return Estimate.bare(parameter, mean, Estimate.Source.MEASURED, "one round only");
    }
    double reach =
        Math.hypot(
            error * Confidence.factor(nanos.size() - 1), roundingError() * Confidence.NORMAL);
    return new Estimate(
        parameter,
        mean,
        OptionalDouble.of(Math.hypot(error, roundingError())),
        OptionalDouble.of(Math.max(0, mean - reach)),
        OptionalDouble.of(mean + reach),
        Estimate.Source.MEASURED,
        mean < tickNanos
            ? "shorter than a tick of the clock, " + Math.round(tickNanos) + " ns"
            : "");
  }
}
