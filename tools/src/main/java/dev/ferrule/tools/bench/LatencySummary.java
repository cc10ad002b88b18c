// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import org.HdrHistogram.Histogram;

/**
 * A distribution of times, in nanoseconds.
 *
 * @param min the least
 * @param p50 the median
 * @param p90 the 90th percentile
 * @param p99 the 99th percentile
 * @param p999 the 99.9th percentile
 * @param max the greatest
 * @param mean the mean
 */
public record LatencySummary(
    double min, double p50, double p90, double p99, double p999, double max, double mean) {

  private static final int SIGNIFICANT_DIGITS = 3;

  static Histogram newHistogram() {
    return new Histogram(SIGNIFICANT_DIGITS); // grows by itself, between rounds
  }

  /**
   * Sums up a histogram.
   *
   * @param histogram the times
   * @param divisor what to divide them by, such as 2 for half of a round trip
   */
  static LatencySummary of(Histogram histogram, double divisor) {
    return new LatencySummary(
        histogram.getMinValue() / divisor,
        histogram.getValueAtPercentile(50) / divisor,
        histogram.getValueAtPercentile(90) / divisor,
        histogram.getValueAtPercentile(99) / divisor,
        histogram.getValueAtPercentile(99.9) / divisor,
        histogram.getMaxValue() / divisor,
        histogram.getMean() / divisor);
  }
}
