// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.Connection;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.sm.ring.RingProducer;
import java.lang.foreign.MemorySegment;

/**
 * A received message that is lent out. One from payload lines lies there until it is freed; one
 * that rode inline was copied to private memory, so that holding it does not hold up the ring.
 */
final class SmReceiveRegion implements ReceiveRegion {

  private final SmReceiver receiver;
  private final InlineMemory inline;
  private MemorySegment buffer = MemorySegment.NULL;
  private long offset;
  private int length;
  private int line = RingProducer.INLINE;
  private boolean lent;

  SmReceiveRegion(SmReceiver receiver, InlineMemory inline) {
    this.receiver = receiver;
    this.inline = inline;
  }

  void lendInline(MemorySegment source, long sourceOffset, int newLength) {
    MemorySegment memory = inline.memory(newLength);
    offset = inline.offset(newLength);
    MemorySegment.copy(source, sourceOffset, memory, offset, newLength);
    buffer = inline.view(newLength);
    length = newLength;
    line = RingProducer.INLINE;
    lent = true;
  }

  void lendLines(MemorySegment lines, long newOffset, int newLength, int newLine) {
    buffer = lines;
    offset = newOffset;
    length = newLength;
    line = newLine;
    lent = true;
  }

  void takeBack() {
    checkLent();
    lent = false;
  }

  boolean belongsTo(SmReceiver candidate) {
    return receiver == candidate;
  }

  int line() {
    return line;
  }

  private void checkLent() {
    if (!lent) {
      throw new IllegalStateException("the region was freed already");
    }
  }

  @Override
  public MemorySegment segment() {
    checkLent();
    return buffer.asSlice(offset, length);
  }

  @Override
  public MemorySegment buffer() {
    checkLent();
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
  public Connection connection() {
    return receiver.connection();
  }

  @Override
  public void close() {
    receiver.free(this);
  }
}
