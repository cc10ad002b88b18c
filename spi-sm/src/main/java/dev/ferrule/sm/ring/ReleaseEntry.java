// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

/**
 * An entry of the release ring, by which the receiver gives payload lines back. From the least
 * significant bit: 24 bits first line, 8 bits lap. The lap shows whether the entry is new.
 */
final class ReleaseEntry {

  private static final int LAP_SHIFT = 24;

  private ReleaseEntry() {}

  static int of(int line, int lap) {
    return line | lap << LAP_SHIFT;
  }

  static int line(int entry) {
    return entry & (1 << LAP_SHIFT) - 1;
  }

  static int lap(int entry) {
    return entry >>> LAP_SHIFT;
  }

  /** Returns the lap of a position of the release ring; the first is 1. */
  static int lap(long position, int mask) {
    return (int) (position / (mask + 1L) + 1) & 0xff;
  }
}
