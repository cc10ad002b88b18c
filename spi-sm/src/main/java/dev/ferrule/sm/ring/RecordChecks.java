// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static dev.ferrule.sm.ring.RingLayout.HEADER;

/** Checks of the records that the sender of a ring has written, and the errors for invalid ones. */
final class RecordChecks {

  private RecordChecks() {}

  static CorruptRingException invalidHeader(long header) {
    return new CorruptRingException("invalid record header 0x" + Long.toHexString(header));
  }

  static CorruptRingException invalidInline(
      long offset, long length, long inlineMax, long capacity) {
    return new CorruptRingException(
        "invalid inline message of "
            + length
            + " bytes at offset "
            + offset
            + " of "
            + capacity
            + " bytes; the maximum is "
            + inlineMax);
  }

  /** Checks one record of padding, and that it and those before do not fill the whole ring. */
  static void checkPadding(long offset, long size, long skipped, long capacity) {
    if (size < HEADER || size % HEADER != 0 || size > capacity - offset) {
      throw new CorruptRingException(
          "invalid padding of "
              + size
              + " bytes at offset "
              + offset
              + " of "
              + capacity
              + " bytes");
    }
    if (skipped + size > capacity) {
      throw new CorruptRingException("the whole ring of " + capacity + " bytes is padding");
    }
  }

  static void checkLines(int line, int length, RingLayout layout) {
    if (length < 0 || length > layout.maxMessage()) {
      throw new CorruptRingException(
          "invalid message of "
              + (length & 0xffffffffL)
              + " bytes; the maximum is "
              + layout.maxMessage());
    }
    int count = Math.max(1, RingLayout.linesFor(length));
    if (line < 0 || line > layout.lines() - count) {
      throw new CorruptRingException(
          "invalid message of " + length + " bytes at line " + line + " of " + layout.lines());
    }
  }
}
