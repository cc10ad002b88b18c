// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A lock-free allocator of payload lines for several threads; {@link
 * dev.ferrule.support.LineAllocator} is the variant for one thread. Each word of the bitmap changes
 * by compare-and-swap. A run that crosses words is allocated word by word, and rolled back if
 * another thread has taken one of its lines. Of two conflicting threads, the one at the higher
 * lines proceeds. A thread that stops in the middle keeps the lines that it has, and no others.
 *
 * <p>A peer determines how many lines there are. So the tables are divided into parts, each created
 * when a line of it is first allocated.
 */
class ConcurrentLineAllocator {

  /** Returned when there is no run of free lines. */
  static final int NONE = -1;

  private static final int WORD = Long.SIZE;
  private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);
  private static final VarHandle RUNS = MethodHandles.arrayElementVarHandle(int[].class);

  private static final int PART_WORDS = 64;
  private static final int PART_LINES = PART_WORDS * WORD;

  private final int lines;
  private final int words;
  private final AtomicReferenceArray<@Nullable Part> parts; // null: all its lines are free
  private int lowestFree; // no word before it had a free line; a hint, as threads race for it

  private static final class Part {
    final long[] free; // bit i of word w: line 64 w + i of the part is free
    // at the first line of a run: its length in lines, negative until it is committed; 0 elsewhere
    final int[] runLength;

    Part(int lines) {
      free = new long[(lines + WORD - 1) / WORD];
      runLength = new int[lines];
      Arrays.fill(free, -1L);
      if (lines % WORD != 0) {
        free[free.length - 1] = (1L << lines) - 1;
      }
    }
  }

  ConcurrentLineAllocator(int lines) {
    this.lines = lines;
    this.words = (lines + WORD - 1) / WORD;
    this.parts = new AtomicReferenceArray<>((words + PART_WORDS - 1) / PART_WORDS);
  }

  private @Nullable Part partOf(int line) {
    return parts.get(line / PART_LINES);
  }

  /** Returns the part of a line, after creating it if necessary. */
  private Part part(int line) {
    int index = line / PART_LINES;
    Part known = parts.get(index);
    if (known != null) {
      return known;
    }
    Part made = new Part(Math.min(PART_LINES, lines - index * PART_LINES));
    Part other = parts.compareAndExchange(index, null, made);
    return other == null ? made : other;
  }

  /** Returns a word of the bitmap when all lines are free. */
  private long allFree(int word) {
    int from = word * WORD;
    return lines - from >= WORD ? -1L : (1L << lines) - 1;
  }

  /** Returns the length of the run at a line, see {@link Part#runLength}. */
  private int runLength(int line) {
    Part part = partOf(line);
    return part == null ? 0 : (int) RUNS.getVolatile(part.runLength, line % PART_LINES);
  }

  private void setRunLength(int line, int count) {
    RUNS.setRelease(part(line).runLength, line % PART_LINES, count);
  }

  /** Returns the number of bytes of the heap that this takes, for tests. */
  long heapBytes() {
    long bytes = (long) parts.length() * Long.BYTES;
    for (int i = 0; i < parts.length(); i++) {
      Part part = parts.get(i);
      if (part != null) {
        bytes +=
            (long) part.free.length * Long.BYTES + (long) part.runLength.length * Integer.BYTES;
      }
    }
    return bytes;
  }

  /** Called between two words of a run that is being allocated. */
  void partlyTaken() {}

  /** Called after this thread has rolled back a partial allocation. */
  void rolledBack() {}

  /**
   * Allocates a run of lines.
   *
   * @param count its length, at least 1
   * @param limit allocates only among the first so many lines
   * @return the first line, or NONE
   */
  int allocate(int count, int limit) {
    int end = Math.min(limit, lines);
    int first = skipTaken();
    int line = allocate(count, first, end);
    if (line == NONE && first > 0) {
      line = allocate(count, 0, end); // the hint may have passed lines that were freed concurrently
    }
    if (line != NONE) {
      setRunLength(line, -count);
    }
    return line;
  }

  private int skipTaken() {
    int before = lowestFree;
    int word = before;
    while (word < words && word(word) == 0) {
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

  /** Allocates a short run within one word, which is the common case. */
  private int takeInWord(int count, int firstWord, int end) {
    int endWord = (end + WORD - 1) / WORD;
    for (int word = firstWord; word < endWord; word++) {
      long bits = word(word);
      long starts = runsOf(bits, count);
      while (starts != 0) {
        int bit = Long.numberOfTrailingZeros(starts);
        int line = word * WORD + bit;
        if (line + count > end) {
          return NONE;
        }
        long taken = bits & ~mask(bit, count);
        long witness = replace(word, bits, taken);
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
   * Returns the bits at which {@code count} ones begin: each step doubles the length of the runs
   * that the bits represent.
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

  /**
   * Allocates a run completely or not at all. Returns its end; or a line of it that is not free.
   */
  private int take(int start, int count) {
    int line = start;
    int end = start + count;
    for (int part = start / PART_LINES + 1; part * (long) PART_LINES < end; part++) {
      part(part * PART_LINES); // before a line is taken: there may be no memory for it
    }
    while (line < end) {
      int bit = line % WORD;
      int inWord = Math.min(end - line, WORD - bit);
      long mask = mask(bit, inWord);
      long bits = word(line / WORD);
      while ((bits & mask) == mask) {
        long witness = replace(line / WORD, bits, bits & ~mask);
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
   * Commits a run: the receiver owns and later releases it.
   *
   * @param line the run's first line
   */
  void commit(int line) {
    setRunLength(line, -runLength(line));
  }

  /**
   * Frees a run that was not committed.
   *
   * @param line the run's first line
   */
  void abort(int line) {
    int count = -runLength(line);
    setRunLength(line, 0);
    give(line, count);
  }

  /**
   * Frees a run that the receiver reports as released.
   *
   * @param line any number
   * @return whether that is valid: a committed run, not yet freed, starts there
   */
  boolean release(int line) {
    if (line < 0 || line >= lines) {
      return false;
    }
    int count = runLength(line);
    if (count <= 0 || !RUNS.compareAndSet(part(line).runLength, line % PART_LINES, count, 0)) {
      return false;
    }
    give(line, count);
    return true;
  }

  /**
   * Counts the runs that are not committed, if none changes meanwhile.
   *
   * @param isKnown whether the run that starts at a line is known to the caller
   * @return their number; NONE if one is unknown to the caller, or there are lines that are neither
   *     free nor in a run: they are being allocated or freed
   */
  int countClaimed(IntPredicate isKnown) {
    int runs = 0;
    int accounted = 0;
    for (int word = 0; word < words; word++) {
      accounted += Long.bitCount(word(word));
    }
    int line = 0;
    while (line < lines) {
      if (partOf(line) == null) {
        line = (line / PART_LINES + 1) * PART_LINES;
        continue;
      }
      int count = -runLength(line);
      if (count > 0) {
        if (!isKnown.test(line)) {
          return NONE;
        }
        runs++;
        accounted += count;
      }
      line += Math.max(1, count);
    }
    return accounted == lines ? runs : NONE;
  }

  /**
   * Returns whether there is a run of free lines, if no other thread allocates or frees lines
   * meanwhile.
   */
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
      WORDS.getAndBitwiseOr(part(line).free, line / WORD % PART_WORDS, mask(bit, inWord));
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
    Part part = parts.get(index / PART_WORDS);
    return part == null ? allFree(index) : (long) WORDS.getVolatile(part.free, index % PART_WORDS);
  }

  /** Replaces a word if it has a value; returns the value that it had. */
  private long replace(int index, long expected, long value) {
    return (long)
        WORDS.compareAndExchange(part(index * WORD).free, index % PART_WORDS, expected, value);
  }
}
