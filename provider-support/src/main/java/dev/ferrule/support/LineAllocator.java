// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import java.util.Arrays;

/**
 * Allocates payload lines by a bitmap in the sender's own memory, where the peer cannot corrupt it.
 * A run of lines is allocated at the lowest free place. A connection with few messages in flight
 * therefore reuses the same few lines, which stay in both caches. Runs are released in any order.
 *
 * <p>A peer chooses the number of lines, so the heap that this takes must not depend on it. Only
 * the first lines are tracked; when all of these are allocated, their number is doubled.
 *
 * <p>Not thread-safe.
 */
public final class LineAllocator {

  /** Returned if there is no free run. */
  public static final int NONE = -1;

  private static final int WORD = Long.SIZE;

  /** The number of lines that are tracked at first. */
  private static final int FIRST = 1024;

  private final int lines;
  private long[] free = {}; // bit i of word w: line 64 w + i is free and tracked
  // at the first line of a run: its length in lines, negative until it is committed; 0 elsewhere
  private int[] runLength = {}; // of the tracked lines; those behind are free
  private int lowestFree; // no word before this one has a free line
  private int runs;
  private int committed;

  /**
   * Creates an allocator whose lines are all free.
   *
   * @param lines the number of lines
   */
  public LineAllocator(int lines) {
    this.lines = lines;
    track(FIRST);
  }

  /** Tracks that many lines, rounded up to whole words. */
  private void track(long atLeast) {
    int before = runLength.length;
    int count = (int) Math.min(lines, (atLeast + WORD - 1) / WORD * WORD);
    long[] moreFree = Arrays.copyOf(free, (count + WORD - 1) / WORD);
    runLength = Arrays.copyOf(runLength, count); // both or, without memory, none
    free = moreFree;
    mark(before, count - before, true);
  }

  /** Returns the number of bytes of the heap that this takes, for tests. */
  long heapBytes() {
    return (long) free.length * Long.BYTES + (long) runLength.length * Integer.BYTES;
  }

  /**
   * Allocates a run of lines.
   *
   * @param count the number of lines, at least 1
   * @param limit restricts the allocation to this many lines from the start
   * @return the first line, or NONE
   */
  public int allocate(int count, int limit) {
    int end = Math.min(limit, lines);
    int line = find(count, end);
    while (line == NONE && runLength.length < end) {
      track((long) runLength.length + Math.max(runLength.length, count));
      line = find(count, end);
    }
    if (line != NONE) {
      mark(line, count, false);
      runLength[line] = -count;
      runs++;
    }
    return line;
  }

  /** {@return the number of allocated runs} */
  public int runs() {
    return runs;
  }

  /**
   * Records that a run is handed to the receiver, which must give it back.
   *
   * @param line the run's first line
   */
  public void commit(int line) {
    runLength[line] = -runLength[line];
    committed++;
  }

  /** {@return whether the receiver has any run: true if at least one run is committed} */
  public boolean isAnythingCommitted() {
    return committed > 0;
  }

  /**
   * Returns whether a committed run starts at a line.
   *
   * @param line any number
   * @return true if a committed run starts there
   */
  public boolean isCommitted(int line) {
    return line >= 0 && line < runLength.length && runLength[line] > 0;
  }

  /**
   * Releases a run, committed or not.
   *
   * @param line the run's first line
   */
  public void release(int line) {
    int count = Math.abs(runLength[line]);
    if (runLength[line] > 0) {
      committed--;
    }
    runLength[line] = 0;
    runs--;
    mark(line, count, true);
    lowestFree = Math.min(lowestFree, line / WORD);
  }

  /** Returns the first line of a run of tracked free lines, or NONE. */
  private int find(int count, int limit) {
    int end = Math.min(limit, runLength.length);
    while (lowestFree < free.length && free[lowestFree] == 0) {
      lowestFree++;
    }
    int line = count <= WORD ? findInWord(count, end) : NONE;
    return line == NONE ? findRun(count, end) : line;
  }

  /** Handles the common case: a short run within one word. */
  private int findInWord(int count, int end) {
    int words = (end + WORD - 1) / WORD;
    for (int word = lowestFree; word < words; word++) {
      long starts = runsOf(free[word], count);
      if (starts != 0) {
        int line = word * WORD + Long.numberOfTrailingZeros(starts);
        return line + count <= end ? line : NONE;
      }
    }
    return NONE;
  }

  /**
   * Returns the bits at which runs of {@code count} ones start. Each step doubles the length of the
   * runs that the bits represent.
   */
  private static long runsOf(long bits, int count) {
    long starts = bits;
    int known = 1;
    while (known < count) {
      int step = Math.min(known, count - known);
      starts &= starts >>> step;
      known += step;
    }
    return starts;
  }

  private int findRun(int count, int end) {
    int start = nextFree(lowestFree * WORD, end);
    while (start <= end - count) {
      int taken = nextTaken(start, start + count);
      if (taken == start + count) {
        return start;
      }
      start = nextFree(taken, end);
    }
    return NONE;
  }

  private int nextFree(int from, int end) {
    int line = from;
    while (line < end) {
      long bits = free[line / WORD] >>> line;
      if (bits != 0) {
        return Math.min(end, line + Long.numberOfTrailingZeros(bits));
      }
      line = (line / WORD + 1) * WORD;
    }
    return end;
  }

  private int nextTaken(int from, int end) {
    int line = from;
    while (line < end) {
      long bits = ~free[line / WORD] >>> line;
      if (bits != 0) {
        return Math.min(end, line + Long.numberOfTrailingZeros(bits));
      }
      line = (line / WORD + 1) * WORD;
    }
    return end;
  }

  private void mark(int first, int count, boolean value) {
    int line = first;
    int left = count;
    while (left > 0) {
      int bit = line % WORD;
      int n = Math.min(left, WORD - bit);
      long mask = (n == WORD ? -1L : (1L << n) - 1) << bit;
      if (value) {
        free[line / WORD] |= mask;
      } else {
        free[line / WORD] &= ~mask;
      }
      line += n;
      left -= n;
    }
  }
}
