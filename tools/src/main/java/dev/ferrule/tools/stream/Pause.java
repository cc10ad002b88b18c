// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.stream;

import java.nio.channels.ClosedByInterruptException;

/**
 * What to do about a standard stream that is not ready and does not wait by itself: another process
 * that has the same pipe or terminal may have set it to O_NONBLOCK, and Java cannot poll(2) it.
 */
final class Pause {

  private static final long LONGEST_MILLIS = 10;

  private long millis = 1;

  /** Waits a little, and longer from time to time. */
  void take() throws ClosedByInterruptException {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClosedByInterruptException(); // as the read or write would that waits by itself
    }
    millis = Math.min(2 * millis, LONGEST_MILLIS);
  }
}
