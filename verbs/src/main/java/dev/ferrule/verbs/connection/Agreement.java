// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.verbs.queue.Channel;

/** What the two sides of a connection agree on. */
public interface Agreement {

  /**
   * Returns how long a message the peer takes.
   *
   * @return the length in bytes
   */
  int peerMaxMessage();

  /**
   * Tells whether a side sends only what the other has receives posted for, so that whatever is
   * posted is acknowledged soon, and a peer that acknowledges nothing is dead.
   *
   * @return whether it does
   */
  boolean isFlowControlled();

  /**
   * Tells whether this side sends messages.
   *
   * @return false for the side of a simplex connection that only receives
   */
  default boolean canSend() {
    return true;
  }

  /**
   * Tells whether this side receives messages.
   *
   * @return false for the side of a simplex connection that only sends
   */
  default boolean canReceive() {
    return true;
  }

  /**
   * Makes the channel over which messages go. Called once.
   *
   * @param parts what the connection is made of
   * @return the channel
   */
  Channel open(Channel.Parts parts);
}
