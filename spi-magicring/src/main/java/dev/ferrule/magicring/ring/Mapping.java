// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import dev.ferrule.magicring.wire.RingOffer;

/** How a ring's memory is mapped, which decides what becomes of a message that meets its end. */
public enum Mapping {

  /** Twice, back to back: a message may cross the end, and is contiguous all the same. */
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

  /** Once: a message that would cross the end starts at offset 0, and what was left is skipped. */
  PLAIN {
    @Override
    long longestIn(long size) {
      return size / 2; // or there might be no room for it, however empty the ring
    }

    @Override
    public long smallestFor(int length) {
      return 2 * RingCursor.rounded(length);
    }

    @Override
    public long worstCase(int length) {
      long rounded = RingCursor.rounded(length);
      return Math.max(0, 2 * rounded - RingCursor.ALIGNMENT);
    }
  };

  abstract long longestIn(long size);

  /**
   * Returns the size of the smallest ring that takes messages up to a length.
   *
   * @param length the length in bytes
   * @return the size in bytes, which need not be whole pages
   */
  public abstract long smallestFor(int length);

  /**
   * Returns the longest message of a ring.
   *
   * @param size the ring's size in bytes
   * @return the limit in bytes
   */
  public int longest(long size) {
    return (int) Math.min(RingOffer.MAX_MESSAGE, longestIn(size));
  }

  /**
   * Returns how many bytes of a ring a message takes at most, wherever in the ring it comes to lie.
   *
   * @param length the message's length in bytes, not negative
   * @return the number of bytes; not more than the ring has, if the message is not longer than
   *     {@link #longest}; and not less than for any shorter message
   */
  public abstract long worstCase(int length);
}
