// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

/**
 * The messages that a receiver takes: those of one connection, or of many.
 *
 * <p><b>Threads:</b> for one receiver.
 */
public interface Arrivals {

  /**
   * Settles that the receiver takes the messages; to be called before anything else.
   *
   * @return false if they go to another receiver
   */
  boolean claim();

  /**
   * Tells whether a message is here; those of connections that are closed are passed over.
   *
   * @return whether one is
   */
  boolean hasNext();

  /**
   * Returns the connection of the next message, which is here.
   *
   * @return the connection
   */
  Channel channel();

  /**
   * Returns the number of the next message, which is here.
   *
   * @return the number by which its channel knows it
   */
  int number();

  /**
   * Returns the length of the next message, which is here.
   *
   * @return the length in bytes
   */
  int length();

  /** Passes on to the message behind. */
  void advance();
}
