// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.SendRegion;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.ring.RingProducer;
import java.lang.foreign.MemorySegment;

/**
 * A claimed region: payload lines, or for a message that will ride inline a place in private
 * memory, as its slot is only known when it is sent.
 */
final class SmSendRegion implements SendRegion {

  private final SmSender sender;
  private final InlineMemory inline;
  private MemorySegment buffer = MemorySegment.NULL;
  private long offset;
  private int length;
  private int line = RingProducer.INLINE;
  private boolean claimed;

  SmSendRegion(SmSender sender, InlineMemory inline) {
    this.sender = sender;
    this.inline = inline;
  }

  void lend(int newLine, int newLength, MemorySegment lines) {
    if (newLine == RingProducer.INLINE) {
      buffer = inline.memory(newLength);
      offset = inline.offset(newLength);
    } else {
      buffer = lines;
      offset = (long) newLine * RingLayout.LINE;
    }
    line = newLine;
    length = newLength;
    claimed = true;
  }

  void takeBack() {
    checkClaimed();
    claimed = false;
  }

  boolean belongsTo(SmSender candidate) {
    return sender == candidate;
  }

  int line() {
    return line;
  }

  void checkClaimed() {
    if (!claimed) {
      throw new IllegalStateException("the region is not claimed: it was sent or aborted already");
    }
  }

  @Override
  public MemorySegment segment() {
    checkClaimed();
    return buffer.asSlice(offset, length);
  }

  @Override
  public MemorySegment buffer() {
    checkClaimed();
    return buffer;
  }

  @Override
  public long offset() {
    return offset;
  }

  @Override
  public int length() {
    return length;
  }

  @Override
  public void abort() {
    sender.abort(this);
  }
}
