// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

/**
 * The word by which a receiver protects the payload of a consumed record that its program still
 * holds. From the least significant bit: 32 bits size of the record, including the header; 32 bits
 * offset of the record among the records. 0 if no record is held.
 */
final class HeldRecord {

  static final long NONE = 0;

  private static final int OFFSET_SHIFT = 32;

  private HeldRecord() {}

  static long of(long offset, int size) {
    return offset << OFFSET_SHIFT | size;
  }

  static long offset(long word) {
    return word >>> OFFSET_SHIFT;
  }

  static long size(long word) {
    return word & (1L << OFFSET_SHIFT) - 1;
  }

  /** Returns whether a word is valid in a ring. */
  static boolean isValid(long word, RingLayout layout) {
    long offset = offset(word);
    long size = size(word);
    return word == NONE
        || (size >= RingLayout.HEADER
            && size <= RingLayout.recordSize(layout.inlineMax())
            && size % RingLayout.HEADER == 0
            && offset % RingLayout.HEADER == 0
            && offset + size <= layout.capacity());
  }
}
