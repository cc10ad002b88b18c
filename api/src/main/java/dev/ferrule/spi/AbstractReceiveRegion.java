// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.ReceiveRegion;
import java.lang.foreign.MemorySegment;

/** A region that is lent with a message, freed, and lent again, for providers. */
public abstract class AbstractReceiveRegion implements ReceiveRegion {

  private MemorySegment buffer = MemorySegment.NULL;
  private long offset;
  private int length;
  private boolean lent;

  /** For providers. */
  protected AbstractReceiveRegion() {}

  /**
   * Lends the region to the program.
   *
   * @param newBuffer the memory that the message is in
   * @param newOffset where in it
   * @param newLength the message's length in bytes
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
  protected final void endLoan() {
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
      throw new IllegalStateException("the region was freed already");
    }
  }

  @Override
  public final MemorySegment segment() {
    checkLent();
    return buffer.asSlice(offset, length);
  }

  @Override
  public final MemorySegment buffer() {
    checkLent();
    return buffer;
  }

  @Override
  public final long offset() {
    return offset;
  }

  @Override
  public final int length() {
    return length;
  }
}
