// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

/**
 * Which lines of a buffer are taken: runs of lines that are taken one after the other, around the
 * buffer, and given back in the same order.
 *
 * <p>Around, and not at the lowest free place: what is written into lines that the peer has just
 * read waits for each of them to leave the cache of the peer's core, at a quarter of the speed of a
 * copy. Lines that were written a buffer ago have left it.
 *
 * <p>Not for several threads at once.
 */
final class LineRing {

  /** No room. */
  static final int NONE = -1;

  private final int lines;
  private long taken; // ever, those that were left out at the buffer's end included
  private long givenBack;

  /**
   * Creates a ring of lines that are all free.
   *
   * @param lines how many there are; no run has more than half of them, or it might never fit
   */
  LineRing(int lines) {
    this.lines = lines;
  }

  /**
   * Takes a run of lines.
   *
   * @param count how many, at least 1
   * @return the first line, or NONE
   */
  int take(int count) {
    int first = (int) (taken % lines);
    int leftOut = first + count > lines ? lines - first : 0;
    if (taken - givenBack + leftOut + count > lines) {
      return NONE;
    }
    taken += leftOut + count;
    return leftOut > 0 ? 0 : first;
  }

  /**
   * Returns the end of what was taken last, to give it back by.
   *
   * @return how many lines were taken ever
   */
  long end() {
    return taken;
  }

  /**
   * Gives the run back that was taken last.
   *
   * @param end what {@link #end} had told before it was taken
   */
  void giveBackLast(long end) {
    taken = end;
  }

  /**
   * Gives runs back.
   *
   * @param end the last one's, as {@link #end} has told
   */
  void giveBackUpTo(long end) {
    givenBack = end;
  }
}
