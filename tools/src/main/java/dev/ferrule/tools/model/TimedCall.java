// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.model;

import java.util.List;
import java.util.OptionalDouble;

/**
 * A parameter that was measured by timing a call.
 *
 * @param parameter which
 * @param nanos the median of each round, without the reading of the clock
 */
public record TimedCall(Parameter parameter, List<Double> nanos) {

  /** Copies. */
  public TimedCall {
    nanos = List.copyOf(nanos);
  }

  /** The mean of the rounds. */
  double mean() {
    return nanos.stream().mapToDouble(Double::doubleValue).average().orElse(0);
  }

  /** The standard error of the mean; NaN for fewer than two rounds. */
  double standardError() {
    int count = nanos.size();
    double mean = mean();
    double squares = nanos.stream().mapToDouble(value -> (value - mean) * (value - mean)).sum();
    return count < 2 ? Double.NaN : Math.sqrt(squares / (count - 1) / count);
  }

  /** Returns the time as an estimate, with the confidence that its rounds give. */
  Estimate estimate() {
    double mean = mean();
    double error = standardError();
    if (Double.isNaN(error)) {
      return Estimate.bare(parameter, mean, Estimate.Source.MEASURED, "one round only");
    }
    double reach = error * Confidence.factor(nanos.size() - 1);
    return new Estimate(
        parameter,
        mean,
        OptionalDouble.of(error),
        OptionalDouble.of(Math.max(0, mean - reach)),
        OptionalDouble.of(mean + reach),
        Estimate.Source.MEASURED,
        "");
  }
}
