// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import java.time.Duration;

/** Computes points in time by {@link System#nanoTime}. */
public final class Deadlines {

  /** The longest supported timeout, 100 years: adding it to the time of day does not overflow. */
  private static final Duration LONGEST = Duration.ofDays(36_500);

  private Deadlines() {}

  /**
   * Returns the time after a timeout.
   *
   * @param timeout the timeout, from now; a negative one is treated as zero
   * @return the time, by {@link System#nanoTime}
   */
  public static long after(Duration timeout) {
    long nanos =
        timeout.compareTo(LONGEST) > 0
            ? LONGEST.toNanos()
            : timeout.isNegative() ? 0 : timeout.toNanos();
    return System.nanoTime() + nanos;
  }
}
