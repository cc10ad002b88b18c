// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.ring.RingProducer;
import dev.ferrule.spi.AbstractSendRegion;
import java.lang.foreign.MemorySegment;

/**
 * A claimed region: payload lines, or for a message that will ride inline a place in private
 * memory, as its slot is only known when it is sent.
 */
final class SmSendRegion extends AbstractSendRegion {

  private final SmSender sender;
  private final InlineMemory inline;
  private int line = RingProducer.INLINE;

  SmSendRegion(SmSender sender, InlineMemory inline) {
    this.sender = sender;
    this.inline = inline;
  }

  void lend(int newLine, int newLength, MemorySegment lines) {
    if (newLine == RingProducer.INLINE) {
      lend(inline.view(newLength), inline.offset(newLength), newLength);
    } else {
      lend(lines, (long) newLine * RingLayout.LINE, newLength);
    }
    line = newLine;
  }

  boolean belongsTo(SmSender candidate) {
    return sender == candidate;
  }

  /** Where the message is, if it rides inline. */
  long inlineAddress() {
    return inline.address(length());
  }

  int line() {
    return line;
  }

  @Override
  public void abort() {
    sender.abort(this);
  }
}
