// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;

/** Handles messages of {@link Receiver#poll} in place, without an object per message. */
@FunctionalInterface
public interface MessageHandler {

  /**
   * Handles one message. The bytes are {@code buffer[offset, offset + length)}, of which the first
   * is aligned to 8 bytes, see {@link Connection}. They are valid only until this method returns,
   * and must not be written to. An exception thrown by this method propagates through {@code poll};
   * the message counts as received.
   *
   * @param buffer the connection's memory that contains the message
   * @param offset the offset of the message in {@code buffer}, in bytes
   * @param length the length of the message in bytes; may be 0
   */
  void onMessage(MemorySegment buffer, long offset, int length);
}
