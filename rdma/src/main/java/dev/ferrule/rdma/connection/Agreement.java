// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.rdma.queue.Channel;

/** The parameters that the two sides of a connection have negotiated. */
public interface Agreement {

  /** {@return the longest message that the peer accepts, in bytes} */
  int peerMaxMessage();

  /**
   * {@return whether a side sends only messages for which the peer has posted receives} Then every
   * work request completes soon, and a peer at which none does is dead.
   */
  boolean isFlowControlled();

  /**
   * Returns whether this side sends messages.
   *
   * @return false for the side of a simplex connection that only receives
   */
  default boolean canSend() {
    return true;
  }

  /**
   * Returns whether this side receives messages.
   *
   * @return false for the side of a simplex connection that only sends
   */
  default boolean canReceive() {
    return true;
  }

  /**
   * Creates the channel for the messages. Called once.
   *
   * @param parts the queues and memory of the connection
   * @return the channel
   */
  Channel open(Channel.Parts parts);
}
