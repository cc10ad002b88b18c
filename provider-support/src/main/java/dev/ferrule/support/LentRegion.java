// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import java.lang.foreign.MemorySegment;

/** A piece of memory that is lent to the program, taken back, and reused. */
abstract class LentRegion {

  private final String whenNotLent;
  private MemorySegment buffer = MemorySegment.NULL;
  private long offset;
  private int length;
  private boolean lent;

  /** Creates a region, with the error message for use while it is not lent. */
  LentRegion(String whenNotLent) {
    this.whenNotLent = whenNotLent;
  }

  /**
   * Lends the region to the program.
   *
   * @param newBuffer the memory that contains the message
   * @param newOffset the offset in that memory, in bytes
   * @param newLength the length in bytes
   */
  protected final void lend(MemorySegment newBuffer, long newOffset, int newLength) {
    if (buffer != newBuffer) { // a reference costs the garbage collector's barrier
      buffer = newBuffer;
    }
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

  /** {@return whether the region is lent to the program} */
  public final boolean isLent() {
    return lent;
  }

  /**
   * Checks that the region is lent to the program.
   *
   * @throws IllegalStateException if the region is not lent
   */
  protected final void checkLent() {
    if (!lent) {
      throw new IllegalStateException(whenNotLent);
    }
  }

  /**
   * Checks that the memory is still there. Closing the connection takes it away.
   *
   * @throws dev.ferrule.FerruleException if the connection was closed
   */
  protected abstract void checkNotReleased();

  /** {@return a segment of exactly the region's memory} */
  public final MemorySegment segment() {
    checkLent();
    checkNotReleased();
    return buffer.asSlice(offset, length);
  }

  /**
   * Returns the memory that contains the region.
   *
   * @return a segment that is the same for successive regions
   */
  public final MemorySegment buffer() {
    checkLent();
    checkNotReleased();
    return buffer;
  }

  /** {@return the offset of the region in {@code buffer()}, in bytes} */
  public final long offset() {
    return offset;
  }

  /** {@return the length of the region, in bytes} */
  public final int length() {
    return length;
  }

  @Override
  public String toString() {
    return lent ? "region of " + length + " bytes" : whenNotLent;
  }
}
