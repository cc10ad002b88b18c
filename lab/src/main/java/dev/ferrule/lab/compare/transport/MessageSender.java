// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

/** The sending half of a {@link Transport}. It belongs to one thread at a time. */
public interface MessageSender extends AutoCloseable {

  /**
   * Sends a message that begins with a value; returns false if there is no buffer space now. All
   * transports copy the pattern from memory of their own, as a program would copy its data.
   */
  boolean trySend(long value, int length);

  /**
   * Sends up to {@link Transport#LARGEST_BATCH} messages together, whose values begin with {@code
   * first}, with the transport's call for batches; returns how many, as there may be no space for
   * the rest. A transport without such a call sends them one by one.
   */
  default int trySendBatch(long first, int count, int length) {
    int sent = 0;
    while (sent < count && trySend(first + sent, length)) {
      sent++;
    }
    return sent;
  }

  /** Releases the sender's resources, if it has any. */
  @Override
  default void close() {}
}
