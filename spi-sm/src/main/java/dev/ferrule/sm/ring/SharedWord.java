// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

/**
 * The header of a record of {@link RecordHeader#TYPE_SHARED}: all that several threads have to
 * agree on, written by one compare-and-swap. From the least significant bit: 4 bits type, 28 bits
 * lap, 24 bits first payload line, 8 more bits of the lap.
 *
 * <p>The lap says which records are new: these have no header of 0 behind them. It has 36 bits for
 * the sake of the swap. A thread that is stopped before its swap must not find the same lap again
 * when it continues, as it would take a record of today for the one that it had read. That takes
 * 2^36 laps.
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
    return RecordHeader.TYPE_SHARED
        | (lap & LAP_MASK) << LAP_SHIFT
        | (long) line << LINE_SHIFT
        | lap >>> LAP_BITS << MORE_LAP_SHIFT;
  }

  /** The lap that a position, in bytes, is in; the first is 1. */
  static long lap(long position, int ringShift) {
    return (position >>> ringShift) + 1 & ALL_LAP_MASK;
  }

  /** Whether a word is one of this type and lap, whatever its line is. */
  static boolean isOf(long word, long lap) {
    return (word & ~LINE_BITS) == of(lap, 0);
  }

  static int line(long word) {
    return (int) ((word & LINE_BITS) >>> LINE_SHIFT);
  }
}
