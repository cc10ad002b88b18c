// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.SendRegion;
import java.lang.foreign.MemorySegment;

/**
 * A region that is claimed, sent or aborted, and claimed again, for providers: one object for many
 * messages.
 */
public abstract class AbstractSendRegion implements SendRegion {

  private MemorySegment buffer = MemorySegment.NULL;
  private long offset;
  private int length;
  private boolean claimed;

  /** For providers. */
  protected AbstractSendRegion() {}

  /**
   * Lends the region to the program.
   *
   * @param newBuffer the memory that the message is to be written to
   * @param newOffset where in it
   * @param newLength how long the message may be, in bytes
   */
  protected final void lend(MemorySegment newBuffer, long newOffset, int newLength) {
    buffer = newBuffer;
    offset = newOffset;
    length = newLength;
    claimed = true;
  }

  /**
   * Checks that a message can be sent from the region.
   *
   * @param sentLength the message's length in bytes
   * @throws IllegalStateException if the region is not claimed
   * @throws IllegalArgumentException if the message is longer than the region
   */
  public final void checkSendable(int sentLength) {
    checkClaimed();
    if (sentLength < 0 || sentLength > length) {
      throw new IllegalArgumentException(
          sentLength + " bytes of a region of " + length + " cannot be sent");
    }
  }

  /**
   * Ends the loan.
   *
   * @throws IllegalStateException if the region is not claimed
   */
  public final void takeBack() {
    checkClaimed();
    claimed = false;
  }

  private void checkClaimed() {
    if (!claimed) {
      throw new IllegalStateException("the region is not claimed: it was sent or aborted already");
    }
  }

  @Override
  public final MemorySegment segment() {
    checkClaimed();
    return buffer.asSlice(offset, length);
  }

  @Override
  public final MemorySegment buffer() {
    checkClaimed();
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
