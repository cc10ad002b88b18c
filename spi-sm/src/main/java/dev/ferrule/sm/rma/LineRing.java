// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

/**
 * A ring allocator of a buffer's lines: runs of lines are taken in order and given back in the same
 * order.
 *
 * <p>It does not take the lowest free lines: a write to lines that the peer has just read waits for
 * each of them to leave the cache of the peer's core, at a quarter of the speed of a copy. Lines
 * that were written a whole buffer ago have left it.
 *
 * <p>Not thread-safe.
 */
final class LineRing {

  /** Returned when there is no room. */
  static final int NONE = -1;

  private final int lines;
  private long taken; // in total, including those skipped at the buffer's end
  private long givenBack;

  /** Creates a ring of free lines. No run has more than half of them, or it might never fit. */
  LineRing(int lines) {
    this.lines = lines;
  }

  /** Takes a run of at least one line; returns the first line, or NONE. */
  int take(int count) {
    int first = (int) (taken % lines);
    int leftOut = first + count > lines ? lines - first : 0;
    if (taken - givenBack + leftOut + count > lines) {
      return NONE;
    }
    taken += leftOut + count;
    return leftOut > 0 ? 0 : first;
  }

  /** Returns the end of the last run, to give it back by. */
  long end() {
    return taken;
  }

  /** Gives back the last run, before which {@link #end} had this value. */
  void giveBackLast(long end) {
    taken = end;
  }

  /** Gives back runs, after the last of which {@link #end} had this value. */
  void giveBackUpTo(long end) {
    givenBack = end;
  }
}
