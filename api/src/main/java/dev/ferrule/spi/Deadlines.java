// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import java.time.Duration;

/** Points in time by {@link System#nanoTime}, for providers. */
public final class Deadlines {

  /**
   * Longer than anybody waits, and short enough that adding it to the time of day does not
   * overflow: 100 years.
   */
  private static final Duration LONGEST = Duration.ofDays(36_500);

  private Deadlines() {}

  /**
   * Returns a time from now.
   *
   * @param timeout how long from now; a negative one is now
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
