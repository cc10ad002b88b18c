// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.List;
import java.util.function.Supplier;

/**
 * Receives the progress of a measurement, and its intervals if it wants them: in the measuring
 * thread, between rounds or parts of rounds.
 */
public interface Observer {

  /** The length of intervals that are not wanted. */
  long NO_INTERVALS = Long.MAX_VALUE;

  /** Ignores the progress. */
  Observer NONE = (stage, soFar) -> {};

  /**
   * Reports progress; called before each warm-up and after each round.
   *
   * @param stage the current or completed stage, in a few words
   * @param soFar summarizes the results so far, which takes some time; valid until this method
   *     returns
   */
  void progress(String stage, Supplier<List<Result>> soFar);

  /**
   * {@return the length of each interval in nanoseconds, always the same; {@link #NO_INTERVALS} for
   * none. With intervals, the sizes are measured one after the other instead of interleaved}
   */
  default long intervalNanos() {
    return NO_INTERVALS;
  }

  /**
   * Receives the figures of an interval at its end.
   *
   * @param interval the interval
   */
  default void interval(Interval interval) {}

  /**
   * Receives the sum of all intervals of one size, after the last one.
   *
   * @param sum the sum
   */
  default void sum(Interval sum) {}
}
