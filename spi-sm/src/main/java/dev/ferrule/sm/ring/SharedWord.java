// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

/**
 * The first 8 bytes of a slot that holds a message of {@link RingHeader#TYPE_SHARED}: all that
 * several threads have to agree on, written by one compare-and-swap. From the least significant
 * bit: 4 bits type, 28 bits lap, 24 bits first payload line, 8 more bits of the lap.
 *
 * <p>The first 4 bytes are a {@link RingHeader} with its lap of 12 bits. The other 24 are there for
 * the swap alone: a thread that was stopped before it must not find the same lap again when it goes
 * on, as it would take a slot of today for the one that it had looked at. It takes 2^36 laps for
 * that, a quarter of a million million messages through the smallest ring.
 */
final class SharedWord {

  private static final int LAP_SHIFT = 4;
  private static final int LAP_BITS = Integer.SIZE - LAP_SHIFT;
  private static final long LAP_MASK = (1L << LAP_BITS) - 1;
  private static final int LINE_SHIFT = 32;
  private static final long LINE_BITS = RingLayout.MAX_LINES - 1L << LINE_SHIFT;
  private static final int MORE_LAP_SHIFT = 56;
  private static final long ALL_LAP_MASK = (1L << LAP_BITS + Long.SIZE - MORE_LAP_SHIFT) - 1;

  private SharedWord() {}

  static long of(long lap, int line) {
    return RingHeader.TYPE_SHARED
        | (lap & LAP_MASK) << LAP_SHIFT
        | (long) line << LINE_SHIFT
        | lap >>> LAP_BITS << MORE_LAP_SHIFT;
  }

  /** The lap that a position of the ring is in; the first is 1. */
  static long lap(long position, int slotsShift) {
    return (position >>> slotsShift) + 1 & ALL_LAP_MASK;
  }

  /** Whether a word is one of this type and lap, whatever its line is. */
  static boolean isOf(long word, long lap) {
    return (word & ~LINE_BITS) == of(lap, 0);
  }

  /** Puts a word together of the halves that the receiver reads. */
  static long ofHalves(int header, int lineAndLap) {
    return Integer.toUnsignedLong(header) | (long) lineAndLap << LINE_SHIFT;
  }

  static int line(long word) {
    return (int) ((word & LINE_BITS) >>> LINE_SHIFT);
  }
}
