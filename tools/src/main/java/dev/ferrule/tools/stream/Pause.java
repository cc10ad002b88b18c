// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.stream;

import java.nio.channels.ClosedByInterruptException;

/**
 * Waits while a non-blocking standard stream is not ready. Another process that shares the pipe or
 * terminal may have set O_NONBLOCK, and Java cannot wait for it by poll(2).
 */
final class Pause {

  private static final long LONGEST_MILLIS = 10;

  private long millis = 1;

  /** Sleeps for a short time, which increases with each call. */
  void take() throws ClosedByInterruptException {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClosedByInterruptException(); // like a blocking read or write
    }
    millis = Math.min(2 * millis, LONGEST_MILLIS);
  }
}
