// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import java.util.Arrays;

/**
 * Which payload lines are free, for providers: a bitmap in the sender's own memory, where no peer
 * can break it. Runs of lines are taken at the lowest free place, so that a connection with little
 * in flight keeps using the same few lines, which are warm in both caches; and they are given back
 * in any order.
 *
 * <p>Not for several threads at once.
 */
public final class LineAllocator {

  /** No room. */
  public static final int NONE = -1;

  private static final int WORD = Long.SIZE;

  private final int lines;
  private final long[] free; // bit i of word w: line 64 w + i is free
  private final int[]
      runLength; // at the first line of a run: its length in lines, negative until it is committed;
  // 0 elsewhere
  private int lowestFree; // no word before this one has a free line
  private int runs;
  private int committed;

  /**
   * Creates an allocator of lines that are all free.
   *
   * @param lines how many there are
   */
  public LineAllocator(int lines) {
    this.lines = lines;
    this.free = new long[(lines + WORD - 1) / WORD];
    this.runLength = new int[lines];
    Arrays.fill(free, -1L);
    if (lines % WORD != 0) {
      free[free.length - 1] = (1L << lines) - 1;
    }
  }

  /**
   * Takes a run of lines.
   *
   * @param count how many, at least 1
   * @param limit only among the first so many lines
   * @return the first line, or NONE
   */
  public int allocate(int count, int limit) {
    int end = Math.min(limit, lines);
    while (lowestFree < free.length && free[lowestFree] == 0) {
      lowestFree++;
    }
    int line = count <= WORD ? findInWord(count, end) : NONE;
    if (line == NONE) {
      line = findRun(count, end);
    }
    if (line != NONE) {
      mark(line, count, false);
      runLength[line] = -count;
      runs++;
    }
    return line;
  }

  /**
   * Returns how many runs are taken.
   *
   * @return the number of runs
   */
  public int runs() {
    return runs;
  }

  /**
   * Says that a run goes to the receiver, who is to give it back.
   *
   * @param line the run's first line
   */
  public void commit(int line) {
    runLength[line] = -runLength[line];
    committed++;
  }

  /**
   * Tells whether the receiver has any run.
   *
   * @return whether it has
   */
  public boolean isAnythingCommitted() {
    return committed > 0;
  }

  /**
   * Tells whether a run that was committed starts at a line.
   *
   * @param line any number
   * @return whether one does
   */
  public boolean isCommitted(int line) {
    return line >= 0 && line < lines && runLength[line] > 0;
  }

  /**
   * Gives a run back, committed or not.
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

  /** The common case: a short run that does not cross from one word into the next. */
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
   * The bits at which {@code count} ones begin: each step doubles the length of the runs that the
   * bits stand for.
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
