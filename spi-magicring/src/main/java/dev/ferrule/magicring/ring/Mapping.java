// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import dev.ferrule.magicring.wire.RingOffer;

/** The mapping of a ring's memory. It determines where a message at the ring's end is placed. */
public enum Mapping {

  /** Mapped twice, back to back: a message may cross the end and is still contiguous. */
  MAGIC {
    @Override
    long longestIn(long size) {
      return size;
    }

    @Override
    public long smallestFor(int length) {
      return RingCursor.rounded(length);
    }

    @Override
    public long worstCase(int length) {
      return RingCursor.rounded(length);
    }
  },

  /**
   * Mapped once: a message that would cross the end starts at offset 0; the bytes before the end
   * are skipped.
   */
  PLAIN {
    @Override
    long longestIn(long size) {
      return size / 2; // a longer message might not fit even into an empty ring
    }

    @Override
    public long smallestFor(int length) {
      return 2 * RingCursor.rounded(length);
    }

    @Override
    public long worstCase(int length) {
      return 2 * RingCursor.rounded(length) - RingCursor.ALIGNMENT;
    }
  };

  abstract long longestIn(long size);

  /**
   * Returns the size of the smallest ring for messages up to a length.
   *
   * @param length the length in bytes
   * @return the size in bytes, not necessarily a multiple of the page size
   */
  public abstract long smallestFor(int length);

  /**
   * Returns the maximum length of a message in a ring.
   *
   * @param size the ring's size in bytes
   * @return the limit in bytes
   */
  public int longest(long size) {
    return (int) Math.min(RingOffer.MAX_MESSAGE, longestIn(size));
  }

  /**
   * Returns the maximum number of bytes that a message occupies in a ring, wherever it is placed.
   *
   * @param length the message's length in bytes, not negative
   * @return the number of bytes. Does not exceed the ring's size if the length does not exceed
   *     {@link #longest}. Does not decrease with the length
   */
  public abstract long worstCase(int length);
}
