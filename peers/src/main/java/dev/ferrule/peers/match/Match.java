// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.match;

/** Two sides that are ready to be measured. Belongs to one thread at a time. */
public interface Match extends AutoCloseable {

  /**
   * Measures round trips, one after the other.
   *
   * @param size the length of each message in bytes
   * @param count how many
   * @return half their time
   */
  OneWay oneWay(int size, int count);

  /**
   * Measures messages that follow each other as fast as they go, until the last has arrived.
   *
   * @param size the length of each message in bytes
   * @param count how many
   * @return messages per second
   */
  double messagesPerSecond(int size, long count);

  @Override
  void close();
}
