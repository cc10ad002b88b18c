// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.nio.ByteBuffer;
import java.util.stream.DoubleStream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/**
 * A distribution of times, in nanoseconds. A percentile is NaN if there are too few times: the 99th
 * percentile of fewer than 100 times would be their maximum.
 *
 * @param min the minimum
 * @param p50 the median
 * @param p90 the 90th percentile
 * @param p99 the 99th percentile
 * @param p999 the 99.9th percentile
 * @param max the maximum
 * @param mean the mean
 * @param midMean the mean of the middle half of the times, which is more precise than the clock's
 *     tick
 * @param step the clock's tick, estimated from the common times; 0 if there is only one of them
 */
public record LatencySummary(
    double min,
    double p50,
    double p90,
    double p99,
    double p999,
    double max,
    double mean,
    double midMean,
    double step) {

  /** A time is common if at least one in this number of times equals it. */
  private static final int COMMON = 50;

  private static final int SIGNIFICANT_DIGITS = 3;
  private static final double HUNDRED = 100;
  private static final double HALF = 50;
  private static final double ROUNDING = 1e-9;

  static Histogram newHistogram() {
    return new Histogram(SIGNIFICANT_DIGITS); // resizes itself, between rounds
  }

  /**
   * Summarizes a histogram of times. Each is divided by the divisor: 2 for half of a round trip.
   */
  static LatencySummary of(Histogram histogram, double divisor) {
    return new LatencySummary(
        histogram.getMinValue() / divisor,
        percentile(histogram, 50) / divisor,
        percentile(histogram, 90) / divisor,
        percentile(histogram, 99) / divisor,
        percentile(histogram, 99.9) / divisor,
        histogram.getMaxValue() / divisor,
        histogram.getMean() / divisor,
        midMean(histogram) / divisor,
        step(histogram) / divisor);
  }

  void put(ByteBuffer bytes) {
    for (double time : new double[] {min, p50, p90, p99, p999, max, mean, midMean, step}) {
      bytes.putFloat((float) time);
    }
  }

  /** Reads what {@link #put} has written. */
  static LatencySummary read(ByteBuffer bytes) {
    return new LatencySummary(
        bytes.getFloat(),
        bytes.getFloat(),
        bytes.getFloat(),
        bytes.getFloat(),
        bytes.getFloat(),
        bytes.getFloat(),
        bytes.getFloat(),
        bytes.getFloat(),
        bytes.getFloat());
  }

  /** Returns whether each value can be a time; only a percentile, except the median, may be NaN. */
  boolean isValid() {
    return DoubleStream.of(min, p50, max, mean, midMean, step).allMatch(LatencySummary::isTime)
        && DoubleStream.of(p90, p99, p999).allMatch(time -> Double.isNaN(time) || isTime(time));
  }

  private static boolean isTime(double nanos) {
    return nanos >= 0 && Double.isFinite(nanos);
  }

  private static double percentile(Histogram histogram, double percent) {
    double beyond = histogram.getTotalCount() * (HUNDRED - percent) / HUNDRED;
    return percent > HALF && beyond < 1 - ROUNDING
        ? Double.NaN
        : histogram.getValueAtPercentile(percent);
  }

  private static double midMean(Histogram histogram) {
    double from = histogram.getTotalCount() / 4.0;
    double to = 3 * from;
    double sum = 0;
    double before = 0;
    for (HistogramIterationValue value : histogram.recordedValues()) {
      double after = before + value.getCountAddedInThisIterationStep();
      double within = Math.min(after, to) - Math.max(before, from);
      if (within > 0) {
        sum += within * value.getValueIteratedTo();
      }
      before = after;
    }
    return to == from ? 0 : sum / (to - from);
  }

  private static double step(Histogram histogram) {
    double step = 0;
    long last = -1;
    for (HistogramIterationValue value : histogram.recordedValues()) {
      if (value.getCountAddedInThisIterationStep() * COMMON >= histogram.getTotalCount()) {
        long here = value.getValueIteratedTo();
        step = last < 0 ? 0 : step == 0 ? here - last : Math.min(step, here - last);
        last = here;
      }
    }
    return step;
  }
}
