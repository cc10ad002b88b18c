// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.time.Duration;

/**
 * Limits the time for which a server spins for announced messages that the client does not send.
 */
final class Patience {

  /** The limit for a round. */
  static final Duration OF_ROUND = Duration.ofSeconds(10);

  /** Empty polls before a reading of the clock. */
  private static final int POLLS_BEFORE_CHECK = 1 << 16;

  private final long limitNanos;
  private int polls;
  private long since; // the first check after the last message; 0 if there was none yet

  /** Creates a limit with the minimum time to spin without a message. */
  Patience(Duration limit) {
    limitNanos = limit.toNanos();
  }

  /** Resets the limit; called when a message has arrived. */
  void onMessage() {
    polls = 0;
    since = 0;
  }

  /** Throws if the limit is exceeded; called after an empty poll. */
  void onEmptyPoll() {
    if (++polls < POLLS_BEFORE_CHECK) {
      return;
    }
    polls = 0;
    long now = System.nanoTime();
    if (since == 0) {
      since = now;
    } else if (now - since > limitNanos) {
      throw new ToolException(
          ExitCode.CONNECTION_LOST, "the client stopped sending the messages it had announced");
    }
  }
}
