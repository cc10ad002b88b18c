// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.Connection;
import dev.ferrule.sm.ring.RingProducer;
import dev.ferrule.spi.AbstractReceiveRegion;
import java.lang.foreign.MemorySegment;

/**
 * A received message that is lent out. One from payload lines lies there until it is freed; one
 * that rode inline was copied to private memory, so that holding it does not hold up the ring.
 */
final class SmReceiveRegion extends AbstractReceiveRegion {

  private final SmReceiver receiver;
  private final InlineMemory inline;
  private int line = RingProducer.INLINE;

  SmReceiveRegion(SmReceiver receiver, InlineMemory inline) {
    this.receiver = receiver;
    this.inline = inline;
  }

  void lendInline(MemorySegment source, long sourceOffset, int newLength) {
    long offset = inline.offset(newLength);
    MemorySegment.copy(source, sourceOffset, inline.memory(newLength), offset, newLength);
    lend(inline.view(newLength), offset, newLength);
    line = RingProducer.INLINE;
  }

  void lendLines(MemorySegment lines, long offset, int newLength, int newLine) {
    lend(lines, offset, newLength);
    line = newLine;
  }

  boolean belongsTo(SmReceiver candidate) {
    return receiver == candidate;
  }

  boolean isReceivedBy(SmListenerReceiver candidate) {
    return receiver.connection().isReceivedBy(candidate);
  }

  int line() {
    return line;
  }

  @Override
  public Connection connection() {
    return receiver.connection();
  }

  @Override
  public void close() {
    receiver.free(this);
  }
}
