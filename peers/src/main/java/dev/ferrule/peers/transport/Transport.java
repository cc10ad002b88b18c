// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.transport;

/**
 * One end of a connection that carries messages both ways. Each message is a {@link Payload}: a
 * value in the first 8 bytes, and a pattern. It belongs to one thread at a time.
 */
public interface Transport extends MessageSender, AutoCloseable {

  /** The shortest message in bytes: the value alone. */
  int SHORTEST = Long.BYTES;

  /** The longest message in bytes that every transport is set up for. */
  int LONGEST = 16 << 10;

  /** The most messages of a batch. */
  int LARGEST_BATCH = 64;

  /**
   * Sends messages together, with the transport's call for that. A transport without one sends them
   * one by one until it is full.
   *
   * @param first the value of the first message; each other one's is greater by 1
   * @param count how many messages, 1 to {@link #LARGEST_BATCH}
   * @param length the length of each in bytes
   * @return how many are on their way; there is no room for the rest now
   */
  default int trySendBatch(long first, int count, int length) {
    int sent = 0;
    while (sent < count && trySend(first + sent, length)) {
      sent++;
    }
    return sent;
  }

  /**
   * Returns a sending half of this connection for a further thread. Only in {@link
   * Mode#SEVERAL_SENDERS}.
   *
   * @return the half, which may be used at the same time as all others
   */
  default MessageSender newSender() {
    throw new UnsupportedOperationException("one thread sends on this connection");
  }

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

  /**
   * Returns the check of all values that are taken. Only in {@link Mode#SEVERAL_SENDERS}.
   *
   * @return this end's check
   */
  default SenderSequences sequences() {
    throw new UnsupportedOperationException("one thread sends on this connection");
  }

  @Override
  void close();
}
