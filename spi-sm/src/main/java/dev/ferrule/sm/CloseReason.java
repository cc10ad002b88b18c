// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.Option;
import dev.ferrule.StandardOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The reason for which a side has closed a connection, stored in the word {@code SENDER_CLOSED} of
 * the peer's ring. An unknown value means a plain close.
 */
final class CloseReason {

  /** The connection is open. */
  static final int OPEN = 0;

  /** The program has closed it. */
  static final int CLOSED = 1;

  /** The peer violated the protocol. */
  static final int PROTOCOL = -1;

  /** The program of the closing side failed. */
  static final int PROGRAM = -2;

  /** The peer did not end an access to memory within the timeout. */
  static final int ACCESS = -3;

  private CloseReason() {}

  /** Returns the reason of a peer timeout: any greater number is the timeout in milliseconds. */
  static int silence(Duration timeout) {
    return (int) Math.clamp(timeout.toMillis(), CLOSED + 1L, Integer.MAX_VALUE);
  }

  /** Returns why the peer has ended the connection; null for a plain close. */
  static @Nullable String describe(int word) {
    if (word > CLOSED) {
      Option<Duration> timeout = StandardOptions.PEER_TIMEOUT;
      return ("the peer has ended the connection, because this process did not answer for %s"
              + " (stopped, paused or swapped out?); the peer's option %s sets the timeout")
          .formatted(timeout.format(Duration.ofMillis(word)), timeout.name());
    }
    return switch (word) {
      case PROTOCOL ->
          "the peer has ended the connection after a protocol violation by this side; the peer's"
              + " exception has the details";
      case PROGRAM ->
          "the peer has ended the connection after an error of its program; the peer's"
              + " exception has the details";
      case ACCESS ->
          "the peer has ended the connection, because this process did not end an access to"
              + " remote memory in time (stopped, paused or swapped out?)";
      default -> null;
    };
  }
}
