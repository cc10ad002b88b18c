// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.ring.RingProducer;
import dev.ferrule.spi.AbstractSendRegion;
import java.lang.foreign.MemorySegment;

/**
 * A claimed region: payload lines, or for an inline message its place in the ring. If there is none
 * yet, as another region is claimed there, it is in private memory.
 */
final class SmSendRegion extends AbstractSendRegion {

  private final SmSender sender;
  private final InlineMemory inline;
  private int line = RingProducer.INLINE;
  private boolean inPlace;

  SmSendRegion(SmSender sender, InlineMemory inline) {
    this.sender = sender;
    this.inline = inline;
  }

  /** Lends payload lines. */
  void lendLines(int newLine, int newLength, MemorySegment lines) {
    lend(lines, (long) newLine * RingLayout.LINE, newLength);
    line = newLine;
    inPlace = false;
  }

  /** Lends a place in the ring. */
  void lendInPlace(long place, int newLength, MemorySegment ring) {
    lend(ring, place, newLength);
    line = RingProducer.INLINE;
    inPlace = true;
  }

  /** Lends private memory. */
  void lendPrivate(int newLength) {
    lend(inline.view(newLength), inline.offset(newLength), newLength);
    line = RingProducer.INLINE;
    inPlace = false;
  }

  boolean belongsTo(SmSender candidate) {
    return sender == candidate;
  }

  /** Where the message is, if it is in private memory. */
  long inlineAddress() {
    return inline.address(length());
  }

  int line() {
    return line;
  }

  boolean isInPlace() {
    return inPlace;
  }

  @Override
  public void abort() {
    sender.abort(this);
  }
}
