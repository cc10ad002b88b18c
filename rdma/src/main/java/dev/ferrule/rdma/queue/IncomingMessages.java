// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

/**
 * The received messages for a receiver: those of one connection, or of many.
 *
 * <p><b>Threads:</b> used by one receiver.
 */
public interface IncomingMessages {

  /**
   * Claims the messages for this receiver. To be called before the other methods.
   *
   * @return false if another receiver has claimed them
   */
  boolean claim();

  /**
   * Returns whether a message has arrived. Skips messages of closed connections.
   *
   * @return whether a message has arrived
   */
  boolean hasNext();

  /**
   * Returns the channel of the next message. Requires {@link #hasNext}.
   *
   * @return the channel
   */
  Channel channel();

  /**
   * Returns the number of the next message. Requires {@link #hasNext}.
   *
   * @return the message's number in its channel
   */
  int number();

  /**
   * Returns the length of the next message. Requires {@link #hasNext}.
   *
   * @return the length in bytes
   */
  int length();

  /** Advances to the message after it. */
  void advance();
}
