// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;

/** Takes messages from {@link Receiver#poll} where they lie, without an object for each. */
@FunctionalInterface
public interface MessageHandler {

  /**
   * Takes one message. The bytes are {@code buffer[offset, offset + length)}; they are only valid
   * until this method returns, and must not be written to. An exception thrown here passes through
   * {@code poll}; the message counts as received.
   *
   * @param buffer memory of the connection that the message lies in
   * @param offset where in {@code buffer} the message starts, in bytes
   * @param length the message's length in bytes; may be 0
   */
  void onMessage(MemorySegment buffer, long offset, int length);
}
