// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.time.Duration;

/** How long a server spins for a client that has announced messages and does not send them. */
final class Patience {

  /** Of a round. */
  static final Duration OF_ROUND = Duration.ofSeconds(10);

  /** Some milliseconds, at least. */
  private static final int LOOKS_BEFORE_CHECK = 1 << 16;

  private final long limitNanos;
  private int looks;
  private long since; // the first check in vain; 0 if there was none since the last message

  /**
   * Begins.
   *
   * @param limit how long to spin without a message, at least
   */
  Patience(Duration limit) {
    limitNanos = limit.toNanos();
  }

  /** A message has come. */
  void messageCame() {
    looks = 0;
    since = 0;
  }

  /**
   * No message has come.
   *
   * @throws ToolException if none has for too long
   */
  void lookedInVain() {
    if (++looks < LOOKS_BEFORE_CHECK) {
      return;
    }
    looks = 0;
    long now = System.nanoTime();
    if (since == 0) {
      since = now;
    } else if (now - since > limitNanos) {
      throw new ToolException(
          ExitCode.CONNECTION_LOST, "the client has announced messages and stopped sending them");
    }
  }
}
