// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

/** The sending half of a {@link Transport}. It belongs to one thread at a time. */
public interface MessageSender extends AutoCloseable {

  /**
   * Sends a message, unless the transport is full. All transports copy the pattern from memory of
   * their own, as a program would copy its data.
   *
   * @param value the message's first 8 bytes
   * @param length its length in bytes, from {@link Transport#SHORTEST} to {@link Transport#LONGEST}
   * @return false if there is no buffer space now; true once the message is sent
   */
  boolean trySend(long value, int length);

  /** Gives back what the sender has taken of the transport, if anything. */
  @Override
  default void close() {}
}
