// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;

/**
 * The content of a measurement's messages: a pattern, with the message's number in the first 8
 * bytes, or in all bytes of a shorter message, and from 16 bytes on its complement in the last 8.
 * Writing and checking both takes a few nanoseconds.
 */
final class MessageContent {

  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final long PATTERN = 0x5bd1_e995_a3c5_9ac3L;

  private final MemorySegment bytes;
  private final int size;

  MessageContent(SegmentAllocator allocator, int size) {
    this.size = size;
    bytes = allocator.allocate(Math.max(size, Long.BYTES), 64);
    for (long i = 0; i + Long.BYTES <= bytes.byteSize(); i += Long.BYTES) {
      bytes.set(LONG, i, PATTERN * (i + 1));
    }
  }

  /** Returns the message's memory, of which the first {@link #size} bytes are the message. */
  MemorySegment bytes() {
    return bytes;
  }

  int size() {
    return size;
  }

  /** Writes the message's number. */
  void number(long number) {
    bytes.set(LONG, 0, number);
    if (size >= 2 * Long.BYTES) {
      bytes.set(LONG, size - Long.BYTES, ~number);
    }
  }

  /** Returns whether a received message has the expected length, and the number at both ends. */
  boolean matches(MemorySegment buffer, long offset, int length, long number) {
    if (length != size) {
      return false;
    }
    if (length >= 2 * Long.BYTES) {
      return buffer.get(LONG, offset) == number
          && buffer.get(LONG, offset + length - Long.BYTES) == ~number;
    }
    if (length >= Long.BYTES) {
      return buffer.get(LONG, offset) == number;
    }
    return length == 0 || buffer.get(ValueLayout.JAVA_BYTE, offset) == (byte) number;
  }

  /** Returns whether the bytes between the two ends match the pattern. */
  boolean matchesBetween(MemorySegment buffer, long offset) {
    return size < 2 * Long.BYTES
        || MemorySegment.mismatch(
                buffer,
                offset + Long.BYTES,
                offset + size - Long.BYTES,
                bytes,
                Long.BYTES,
                size - Long.BYTES)
            < 0;
  }
}
