// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.stream;

import java.nio.channels.ClosedByInterruptException;

/**
 * Waits for a standard stream that is not ready and does not block: another process with the same
 * pipe or terminal may have set it to O_NONBLOCK, and Java cannot poll(2) it.
 */
final class Pause {

  private static final long LONGEST_MILLIS = 10;

  private long millis = 1;

  /** Sleeps for a short time, with increasing duration. */
  void take() throws ClosedByInterruptException {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClosedByInterruptException(); // as a blocking read or write would
    }
    millis = Math.min(2 * millis, LONGEST_MILLIS);
  }
}
