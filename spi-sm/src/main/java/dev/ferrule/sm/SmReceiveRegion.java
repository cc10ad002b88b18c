// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static dev.ferrule.sm.os.RawMemory.ALL;

import dev.ferrule.Connection;
import dev.ferrule.sm.ring.RingConsumer;
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

  /** Lends the message that the ring's receiving end has found. */
  void lend(RingConsumer consumer) {
    int length = consumer.messageLength();
    line = consumer.messageLine();
    if (line == RingProducer.INLINE) {
      MemorySegment.copy(ALL, consumer.messageAddress(), ALL, inline.address(length), length);
      lend(inline.readOnlyView(length), inline.offset(length), length);
    } else {
      lend(consumer.messageMemory(), consumer.messageOffset(), length);
    }
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
