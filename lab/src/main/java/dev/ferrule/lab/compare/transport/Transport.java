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

  /** The longest message in bytes over RDMA: the default of the option {@code maxMessage}. */
  int LONGEST_OVER_RDMA = 64 << 10;

  /** The maximum number of messages in a batch. */
  int LARGEST_BATCH = 64;

  /**
   * {@return a sending half of this connection for a further thread, which may be used concurrently
   * with all others} Only in {@link Mode#SEVERAL_SENDERS}.
   */
  default MessageSender newSender() {
    throw new UnsupportedOperationException("this connection has a single sender");
  }

  /**
   * Receives up to a number of messages that have arrived, and returns how many. A transport that
   * can only block waits for the first.
   */
  int poll(int limit);

  /** {@return the value of the last received message; 0 before the first} */
  long lastValue();

  /** Returns the check of all received values. Only in {@link Mode#SEVERAL_SENDERS}. */
  default SenderSequences sequences() {
    throw new UnsupportedOperationException("this connection has a single sender");
  }

  @Override
  void close();
}
