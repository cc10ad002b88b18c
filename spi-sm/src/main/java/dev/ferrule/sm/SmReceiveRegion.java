// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static dev.ferrule.posix.RawMemory.ALL;

import dev.ferrule.Connection;
import dev.ferrule.posix.RawMemory;
import dev.ferrule.sm.ring.RingConsumer;
import dev.ferrule.sm.ring.RingProducer;
import dev.ferrule.support.AbstractReceiveRegion;
import org.jspecify.annotations.Nullable;

/**
 * A received message that the program holds. It stays in place, in payload lines or in the ring. An
 * inline message is copied to private memory only while the program holds another region in the
 * ring.
 */
final class SmReceiveRegion extends AbstractReceiveRegion {

  private final SmReceiver receiver;
  private final InlineMemory inline;
  private @Nullable RingConsumer ring; // of the message
  private int line = RingProducer.INLINE;
  private boolean inPlace; // in the ring

  SmReceiveRegion(SmReceiver receiver, InlineMemory inline) {
    this.receiver = receiver;
    this.inline = inline;
  }

  /** Passes the message found by the ring's receiving end to the program. */
  void lend(RingConsumer consumer) {
    int length = consumer.messageLength();
    ring = consumer;
    line = consumer.messageLine();
    inPlace = line == RingProducer.INLINE && consumer.hold();
    if (line != RingProducer.INLINE || inPlace) {
      lend(consumer.messageMemory(), consumer.messageOffset(), length);
    } else {
      RawMemory.copy(ALL, consumer.messageAddress(), inline.address(length), length);
      lend(inline.readOnlyView(length), inline.offset(length), length);
    }
  }

  boolean belongsTo(SmReceiver candidate) {
    return receiver == candidate;
  }

  boolean isReceivedBy(SmListenerReceiver candidate) {
    return receiver.connection().isReceivedBy(candidate);
  }

  /** Gives the message's memory back; returns whether its sender sleeps and must be woken. */
  boolean release() {
    RingConsumer from = ring;
    if (from == null) {
      return false;
    }
    if (inPlace) {
      return from.endHold();
    }
    return line != RingProducer.INLINE && from.release(line);
  }

  @Override
  protected void checkNotReleased() {
    receiver.connection().checkNotReleased();
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
