// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import java.util.Arrays;

/**
 * A ring's memory and the messages written to it. Each message repeats one byte, which differs from
 * the byte of nearby messages. A message that crosses the end continues at the beginning, as in
 * double-mapped memory.
 */
final class RingContent {

  private final byte[] ring;
  private final boolean mayCross;
  private final byte[][] patterns = new byte[256][];

  RingContent(int size, Mapping mapping) {
    this.ring = new byte[size];
    this.mayCross = mapping == Mapping.MAGIC;
    for (int i = 0; i < patterns.length; i++) {
      patterns[i] = new byte[size];
      Arrays.fill(patterns[i], (byte) i);
    }
  }

  void write(long offset, int length, long number) {
    int start = checked(offset, length);
    int first = Math.min(length, ring.length - start);
    System.arraycopy(pattern(number), 0, ring, start, first);
    System.arraycopy(pattern(number), 0, ring, 0, length - first);
  }

  void check(long offset, int length, long number) {
    int start = checked(offset, length);
    int first = Math.min(length, ring.length - start);
    if (!Arrays.equals(ring, start, start + first, pattern(number), 0, first)
        || !Arrays.equals(ring, 0, length - first, pattern(number), 0, length - first)) {
      throw new AssertionError("message " + number + " at " + offset + " was overwritten");
    }
  }

  private byte[] pattern(long number) {
    return patterns[(int) number & 0xff];
  }

  private int checked(long offset, int length) {
    if (offset < 0 || offset >= ring.length || offset % 8 != 0) {
      throw new AssertionError("a message at " + offset);
    }
    if (!mayCross && offset + length > ring.length) {
      throw new AssertionError("a message of " + length + " bytes at " + offset);
    }
    return (int) offset;
  }
}
