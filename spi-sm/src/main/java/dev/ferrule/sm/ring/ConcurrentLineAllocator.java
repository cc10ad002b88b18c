// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * Which payload lines are free, for several threads at once: what {@link
 * dev.ferrule.spi.LineAllocator} is for one. There is no lock. Each word of the bitmap changes by
 * compare-and-swap; a run that crosses words is taken word by word, and given back if another
 * thread was faster somewhere. Of two threads that get into each other's way, the one that is
 * further up goes on. A thread that stops in the middle keeps the lines that it has, and no others.
 */
class ConcurrentLineAllocator {

  /** No room. */
  static final int NONE = -1;

  private static final int WORD = Long.SIZE;
  private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);
  private static final VarHandle RUNS = MethodHandles.arrayElementVarHandle(int[].class);

  private final int lines;
  private final long[] free; // bit i of word w: line 64 w + i is free
  private final int[]
      runLength; // at the first line of a run: its length in lines, negative until it is committed;
  // 0 elsewhere
  private int lowestFree; // no word before this one had a free line; a hint, as threads race for it

  ConcurrentLineAllocator(int lines) {
    this.lines = lines;
    this.free = new long[(lines + WORD - 1) / WORD];
    this.runLength = new int[lines];
    Arrays.fill(free, -1L);
    if (lines % WORD != 0) {
      free[free.length - 1] = (1L << lines) - 1;
    }
    VarHandle.releaseFence();
  }

  /** Called between two words of a run that is being taken. */
  void partlyTaken() {}

  /** Called when lines were given back that this thread had taken for nothing. */
  void rolledBack() {}

  /**
   * Takes a run of lines.
   *
   * @param count how many, at least 1
   * @param limit only among the first so many lines
   * @return the first line, or NONE
   */
  int allocate(int count, int limit) {
    int end = Math.min(limit, lines);
    int first = skipTaken();
    int line = allocate(count, first, end);
    if (line == NONE && first > 0) {
      line = allocate(count, 0, end); // the hint may have passed by what was freed at that moment
    }
    if (line != NONE) {
      RUNS.setRelease(runLength, line, -count);
    }
    return line;
  }

  private int skipTaken() {
    int before = lowestFree;
    int word = before;
    while (word < free.length && word(word) == 0) {
      word++;
    }
    if (word != before) {
      lowestFree = word;
    }
    return word;
  }

  private int allocate(int count, int firstWord, int end) {
    int line = count <= WORD ? takeInWord(count, firstWord, end) : NONE;
    return line == NONE && count > 1 ? takeRun(count, firstWord, end) : line;
  }

  /** The common case: a short run that does not cross from one word into the next. */
  private int takeInWord(int count, int firstWord, int end) {
    int words = (end + WORD - 1) / WORD;
    for (int word = firstWord; word < words; word++) {
      long bits = word(word);
      long starts = runsOf(bits, count);
      while (starts != 0) {
        int bit = Long.numberOfTrailingZeros(starts);
        int line = word * WORD + bit;
        if (line + count > end) {
          return NONE;
        }
        long taken = bits & ~mask(bit, count);
        long witness = (long) WORDS.compareAndExchange(free, word, bits, taken);
        if (witness == bits) {
          return line;
        }
        bits = witness;
        starts = runsOf(bits, count);
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
    while (known < count && starts != 0) {
      int step = Math.min(known, count - known);
      starts &= starts >>> step;
      known += step;
    }
    return starts;
  }

  private int takeRun(int count, int firstWord, int end) {
    int start = nextFree(firstWord * WORD, end);
    while (start <= end - count) {
      int taken = nextTaken(start, start + count);
      if (taken == start + count) {
        taken = take(start, count);
        if (taken == start + count) {
          return start;
        }
      }
      start = nextFree(taken, end);
    }
    return NONE;
  }

  /** Takes a run, or nothing. Returns its end; or a line of it that is another's. */
  private int take(int start, int count) {
    int line = start;
    int end = start + count;
    while (line < end) {
      int bit = line % WORD;
      int inWord = Math.min(end - line, WORD - bit);
      long mask = mask(bit, inWord);
      long bits = word(line / WORD);
      while ((bits & mask) == mask) {
        long witness = (long) WORDS.compareAndExchange(free, line / WORD, bits, bits & ~mask);
        if (witness == bits) {
          break;
        }
        bits = witness;
      }
      if ((bits & mask) != mask) {
        if (line > start) {
          give(start, line - start);
          rolledBack();
        }
        return line + Long.numberOfTrailingZeros((~bits & mask) >>> bit);
      }
      line += inWord;
      if (line < end) {
        partlyTaken();
      }
    }
    return end;
  }

  /**
   * Says that a run goes to the receiver, who is to give it back.
   *
   * @param line the run's first line
   */
  void commit(int line) {
    RUNS.setRelease(runLength, line, -runLength[line]);
  }

  /**
   * Gives a run back that was not committed.
   *
   * @param line the run's first line
   */
  void abort(int line) {
    int count = -runLength[line];
    RUNS.setRelease(runLength, line, 0);
    give(line, count);
  }

  /**
   * Gives a run back that the receiver says it has freed.
   *
   * @param line any number
   * @return whether that can be: a run that was committed, and is not free already, starts there
   */
  boolean release(int line) {
    if (line < 0 || line >= lines) {
      return false;
    }
    int count = (int) RUNS.getVolatile(runLength, line);
    if (count <= 0 || !RUNS.compareAndSet(runLength, line, count, 0)) {
      return false;
    }
    give(line, count);
    return true;
  }

  /**
   * Counts the runs that were not committed, if none changes meanwhile.
   *
   * @param isMeant whether the run that starts at a line is one that the caller knows of
   * @return how many there are; NONE if the caller does not know of one, or there are lines that
   *     are neither free nor in one: somebody is just taking them, or giving them back
   */
  int countClaimed(IntPredicate isMeant) {
    int runs = 0;
    int accounted = 0;
    for (int word = 0; word < free.length; word++) {
      accounted += Long.bitCount(word(word));
    }
    int line = 0;
    while (line < lines) {
      int count = -(int) RUNS.getVolatile(runLength, line);
      if (count > 0) {
        if (!isMeant.test(line)) {
          return NONE;
        }
        runs++;
        accounted += count;
      }
      line += Math.max(1, count);
    }
    return accounted == lines ? runs : NONE;
  }

  /** Tells whether there is a run, if nobody else takes any lines or gives any back meanwhile. */
  boolean hasRun(int count) {
    int start = nextFree(0, lines);
    while (start <= lines - count) {
      int taken = nextTaken(start, start + count);
      if (taken == start + count) {
        return true;
      }
      start = nextFree(taken, lines);
    }
    return false;
  }

  private int nextFree(int from, int end) {
    int line = from;
    while (line < end) {
      long bits = word(line / WORD) >>> line;
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
      long bits = ~word(line / WORD) >>> line;
      if (bits != 0) {
        return Math.min(end, line + Long.numberOfTrailingZeros(bits));
      }
      line = (line / WORD + 1) * WORD;
    }
    return end;
  }

  private void give(int first, int count) {
    int line = first;
    int end = first + count;
    while (line < end) {
      int bit = line % WORD;
      int inWord = Math.min(end - line, WORD - bit);
      WORDS.getAndBitwiseOr(free, line / WORD, mask(bit, inWord));
      line += inWord;
    }
    if (first / WORD < lowestFree) {
      lowestFree = first / WORD;
    }
  }

  private static long mask(int bit, int count) {
    return (count == WORD ? -1L : (1L << count) - 1) << bit;
  }

  private long word(int index) {
    return (long) WORDS.getVolatile(free, index);
  }
}
