// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.transport;

/**
 * One end of a connection that carries messages both ways. Each message is a {@link Payload}: a
 * value in the first 8 bytes, and a pattern. It belongs to one thread at a time.
 */
public interface Transport extends AutoCloseable {

  /** The shortest message in bytes: the value alone. */
  int SHORTEST = Long.BYTES;

  /** The longest message in bytes that every transport is set up for. */
  int LONGEST = 16 << 10;

  /**
   * Sends a message, unless the transport is full. All transports copy the pattern from memory of
   * their own, as a program would copy what it has to say.
   *
   * @param value what the message begins with
   * @param length its length in bytes, from {@link #SHORTEST} to {@link #LONGEST}
   * @return false if there is no room now; true once it is on its way
   */
  boolean trySend(long value, int length);

  /**
   * Takes messages that have arrived. A transport that can only block waits for the first.
   *
   * @param limit how many to take at most, at least 1
   * @return how many were taken
   */
  int poll(int limit);

  /**
   * Returns the value of the message that was taken last.
   *
   * @return the value; 0 before the first
   */
  long lastValue();

  @Override
  void close();
}
