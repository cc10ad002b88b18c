// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.time.Duration;

/** The time limit for which a server spins for announced messages that the client does not send. */
final class Patience {

  /** The limit for a round. */
  static final Duration OF_ROUND = Duration.ofSeconds(10);

  /** At least some milliseconds. */
  private static final int LOOKS_BEFORE_CHECK = 1 << 16;

  private final long limitNanos;
  private int looks;
  private long since; // the first check without a message; 0 if there was none since the last one

  /** Creates a limit: the minimum time to spin without a message. */
  Patience(Duration limit) {
    limitNanos = limit.toNanos();
  }

  /** Resets the limit when a message has arrived. */
  void messageCame() {
    looks = 0;
    since = 0;
  }

  /** Throws if no message has arrived and the limit is exceeded. */
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
          ExitCode.CONNECTION_LOST, "the client stopped sending the messages it had announced");
    }
  }
}
