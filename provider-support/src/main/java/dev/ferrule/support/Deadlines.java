// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import java.time.Duration;

/** Computes points in time by {@link System#nanoTime}. */
public final class Deadlines {

  /** The longest supported timeout, 100 years: adding it to the time of day does not overflow. */
  private static final Duration LONGEST = Duration.ofDays(36_500);

  /** No deadline. */
  public static final long NEVER = Long.MAX_VALUE;

  private Deadlines() {}

  /**
   * Returns the time after a timeout.
   *
   * @param timeout the timeout, from now; a negative one is treated as zero
   * @return the time, by {@link System#nanoTime}; not {@link #NEVER}
   */
  public static long after(Duration timeout) {
    long nanos =
        timeout.compareTo(LONGEST) > 0
            ? LONGEST.toNanos()
            : timeout.isNegative() ? 0 : timeout.toNanos();
    return Math.min(System.nanoTime() + nanos, NEVER - 1);
  }

  /**
   * Returns the time until a deadline.
   *
   * @param deadline the deadline, by {@link System#nanoTime}; or {@link #NEVER}
   * @return the time left, in nanoseconds, 0 or negative after the deadline; {@link Long#MAX_VALUE}
   *     without one
   */
  public static long left(long deadline) {
    return deadline == NEVER ? Long.MAX_VALUE : deadline - System.nanoTime();
  }
}
