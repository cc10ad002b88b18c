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

  /** {@return whether a message has arrived} Skips messages of closed connections. */
  boolean hasNext();

  /** {@return the channel of the next message} Requires {@link #hasNext}. */
  Channel channel();

  /** {@return the number of the next message in its channel} Requires {@link #hasNext}. */
  int number();

  /** {@return the length of the next message, in bytes} Requires {@link #hasNext}. */
  int length();

  /** Advances to the message after it. */
  void advance();
}
