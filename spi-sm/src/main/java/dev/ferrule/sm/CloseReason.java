// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.StandardOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Why a side has closed a connection, as it says in the word {@code SENDER_CLOSED} of the peer's
 * ring. A word that is not known here is a plain close.
 */
final class CloseReason {

  /** It has not. */
  static final int OPEN = 0;

  /** The program has closed it. */
  static final int CLOSED = 1;

  /** The peer broke the protocol. */
  static final int PROTOCOL = -1;

  /** An error of the program that has closed it. */
  static final int PROGRAM = -2;

  /** The peer did not end an access to memory in time. */
  static final int ACCESS = -3;

  private CloseReason() {}

  /** The peer has not answered for so long: any greater number is that time in milliseconds. */
  static int silence(Duration timeout) {
    return (int) Math.clamp(timeout.toMillis(), CLOSED + 1L, Integer.MAX_VALUE);
  }

  /** Says why the peer has given up the connection; null if it has just closed it. */
  static @Nullable String describe(int word) {
    if (word > CLOSED) {
      return "the peer has given up the connection, because this process did not answer for "
          + StandardOptions.PEER_TIMEOUT.format(Duration.ofMillis(word))
          + " (was it stopped, paused or swapped out?); the peer's option "
          + StandardOptions.PEER_TIMEOUT.name()
          + " sets how long that may take";
    }
    return switch (word) {
      case PROTOCOL ->
          "the peer has given up the connection, because this side broke the protocol; the peer's"
              + " exception says how";
      case PROGRAM ->
          "the peer has given up the connection after an error of its program; the peer's"
              + " exception says which";
      case ACCESS ->
          "the peer has given up the connection, because this process did not end an access to"
              + " remote memory in time (was it stopped, paused or swapped out?)";
      default -> null;
    };
  }
}
