// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import java.lang.foreign.MemorySegment;

/** A piece of memory that is lent to the program, taken back, and lent again. */
abstract class LentRegion {

  private final String whenNotLent;
  private MemorySegment buffer = MemorySegment.NULL;
  private long offset;
  private int length;
  private boolean lent;

  /** Says what to tell a program that uses a region which is not its own. */
  LentRegion(String whenNotLent) {
    this.whenNotLent = whenNotLent;
  }

  /**
   * Lends the region to the program.
   *
   * @param newBuffer the memory that the message is in
   * @param newOffset where in it
   * @param newLength the length in bytes
   */
  protected final void lend(MemorySegment newBuffer, long newOffset, int newLength) {
    buffer = newBuffer;
    offset = newOffset;
    length = newLength;
    lent = true;
  }

  /**
   * Ends the loan.
   *
   * @throws IllegalStateException if the region is not lent
   */
  public final void takeBack() {
    checkLent();
    lent = false;
  }

  /**
   * Checks that the region is the program's.
   *
   * @throws IllegalStateException if the region is not lent
   */
  protected final void checkLent() {
    if (!lent) {
      throw new IllegalStateException(whenNotLent);
    }
  }

  /**
   * Returns the region's memory.
   *
   * @return a segment of the region alone
   */
  public final MemorySegment segment() {
    checkLent();
    return buffer.asSlice(offset, length);
  }

  /**
   * Returns the memory that the region is a part of.
   *
   * @return a segment that stays the same from region to region
   */
  public final MemorySegment buffer() {
    checkLent();
    return buffer;
  }

  /**
   * Returns where in the memory of {@code buffer()} the region starts.
   *
   * @return the offset in bytes
   */
  public final long offset() {
    return offset;
  }

  /**
   * Returns how long the region is.
   *
   * @return the length in bytes
   */
  public final int length() {
    return length;
  }
}
