// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

/**
 * The 8-byte header of a record, published by one store. From the least significant bit: 4 bits
 * type; then, for an inline message or padding, 28 bits length; for a message in payload lines, 4
 * zero bits, 24 bits first line, 32 bits length. All other bits are 0.
 *
 * <p>A header of 0 marks the end of the records. The sender stores it behind the last record before
 * it publishes records, so the receiver never reads stale bytes as a header.
 */
final class RecordHeader {

  /** No record. */
  static final int TYPE_EMPTY = 0;

  /** A message whose payload follows the header. */
  static final int TYPE_INLINE = 1;

  /** A message in payload lines. The record is the header alone. */
  static final int TYPE_LINES = 2;

  /** No message: the receiver skips the record. Its length includes the header. */
  static final int TYPE_PADDING = 3;

  private static final int TYPE_MASK = 0xf;
  private static final int LENGTH_SHIFT = 4;
  private static final int LINE_SHIFT = 8;
  private static final int LINES_LENGTH_SHIFT = 32;

  private RecordHeader() {}

  static long inline(int length) {
    return (long) length << LENGTH_SHIFT | TYPE_INLINE;
  }

  static long padding(long size) {
    return size << LENGTH_SHIFT | TYPE_PADDING;
  }

  /** Returns the header of a message in payload lines, from its first line and its length. */
  static long lines(int line, int length) {
    return (long) length << LINES_LENGTH_SHIFT | (long) line << LINE_SHIFT | TYPE_LINES;
  }

  static int type(long header) {
    return (int) header & TYPE_MASK;
  }

  /**
   * Returns the length in the header of an inline message or of padding. A header whose upper half
   * is not 0 yields a length that no record has.
   */
  static long length(long header) {
    return header >>> LENGTH_SHIFT;
  }

  /** Returns the first line in the header of a message in payload lines. */
  static int line(long header) {
    return (int) header >>> LINE_SHIFT;
  }

  /** Returns the length in the header of a message in payload lines; may be negative. */
  static int linesLength(long header) {
    return (int) (header >>> LINES_LENGTH_SHIFT);
  }
}
