// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

/**
 * One end of a bidirectional connection. Each message is a {@link Payload}: a value in the first 8
 * bytes, and a pattern. Belongs to one thread at a time.
 */
public interface Transport extends MessageSender, AutoCloseable {

  /** The shortest message in bytes: the value alone. */
  int SHORTEST = Long.BYTES;

  /** The longest message in bytes for which every transport is configured. */
  int LONGEST = 16 << 10;

  /** The maximum number of messages in a batch. */
  int LARGEST_BATCH = 64;

  /**
   * Sends messages together, with the transport's call for batches. A transport without one sends
   * them one by one until it is full.
   *
   * @param first the value of the first message; each further one is greater by 1
   * @param count the number of messages, 1 to {@link #LARGEST_BATCH}
   * @param length the length of each in bytes
   * @return how many were sent; there is no buffer space for the rest now
   */
  default int trySendBatch(long first, int count, int length) {
    int sent = 0;
    while (sent < count && trySend(first + sent, length)) {
      sent++;
    }
    return sent;
  }

  /**
   * {@return a sending half of this connection for a further thread, which may be used concurrently
   * with all others} Only in {@link Mode#SEVERAL_SENDERS}.
   */
  default MessageSender newSender() {
    throw new UnsupportedOperationException("this connection has a single sender");
  }

  /**
   * Receives messages that have arrived. A transport that can only block waits for the first.
   *
   * @param limit the maximum number to receive, at least 1
   * @return the number received
   */
  int poll(int limit);

  /** {@return the value of the last received message; 0 before the first} */
  long lastValue();

  /**
   * Returns the check of all received values. Only in {@link Mode#SEVERAL_SENDERS}.
   *
   * @return this end's check
   */
  default SenderSequences sequences() {
    throw new UnsupportedOperationException("this connection has a single sender");
  }

  @Override
  void close();
}
