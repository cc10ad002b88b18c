// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

/**
 * Plans the number of messages to send before the clock is read again, in a round that ends at a
 * given time. A slice is short, and its length follows the rate of the previous slice, so that a
 * rate that falls delays the end of the round by little.
 */
final class Slices {

  /** The time of a slice, to which a reading of the clock adds less than a thousandth. */
  static final long SLICE_NANOS = 100_000;

  private static final long FIRST = 1;

  private long fitting = FIRST; // in the time of a slice

  /** Returns the number of messages of the next slice: at least one. */
  long next(long leftNanos) {
    long share =
        leftNanos >= SLICE_NANOS ? fitting : (long) (fitting * (double) leftNanos / SLICE_NANOS);
    return Math.max(1, share);
  }

  /**
   * Adapts the next slice to the number of messages of the last one and its time. The length of a
   * slice at most doubles.
   */
  void add(long messages, long nanos) {
    double inSlice = messages * (double) SLICE_NANOS / Math.max(1, nanos);
    fitting = Math.clamp((long) inSlice, 1, 2 * messages);
  }
}
