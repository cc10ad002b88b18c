// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.ring.RingProducer;
import dev.ferrule.support.AbstractSendRegion;
import dev.ferrule.support.SingleThreadedUse;
import java.lang.foreign.MemorySegment;

/**
 * A claimed region: payload lines, or for an inline message its place in the ring. If there is no
 * such place, because another region is claimed there, the region is in private memory.
 */
final class SmSendRegion extends AbstractSendRegion {

  private final SmSender sender;
  private final InlineMemory inline;
  private int line = RingProducer.INLINE;

  SmSendRegion(SmSender sender, SingleThreadedUse use, InlineMemory inline) {
    super(sender, use);
    this.sender = sender;
    this.inline = inline;
  }

  /** Passes payload lines to the program. */
  void lendLines(int newLine, int newLength, MemorySegment lines) {
    lend(lines, (long) newLine * RingLayout.LINE, newLength);
    line = newLine;
  }

  /** Passes a place in the ring to the program. */
  void lendInPlace(long place, int newLength, MemorySegment ring) {
    lend(ring, place, newLength);
  }

  /** Passes private memory to the program. */
  void lendPrivate(int newLength) {
    lend(inline.view(newLength), inline.offset(newLength), newLength);
    line = RingProducer.INLINE;
  }

  /** Returns the address of a message in private memory. */
  long inlineAddress() {
    return inline.address(length());
  }

  int line() {
    return line;
  }

  @Override
  protected void checkNotReleased() {
    sender.checkNotReleased();
  }

  @Override
  protected long stageMessage(int length) {
    return sender.stage(this, length);
  }

  @Override
  protected void release() {
    sender.release(this);
  }
}
