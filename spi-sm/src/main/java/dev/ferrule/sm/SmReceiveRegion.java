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
 * A received message that the program holds: in place in payload lines, or copied from the ring to
 * private memory, so that it blocks no record behind it.
 */
final class SmReceiveRegion extends AbstractReceiveRegion {

  private final SmReceiver receiver;
  private final InlineMemory inline;
  private @Nullable RingConsumer ring; // of the message
  private int line = RingProducer.INLINE;

  SmReceiveRegion(SmReceiver receiver, InlineMemory inline) {
    this.receiver = receiver;
    this.inline = inline;
  }

  /** Passes the message found by the ring's receiving end to the program. */
  void lend(RingConsumer consumer) {
    int length = consumer.messageLength();
    ring = consumer;
    line = consumer.messageLine();
    if (line == RingProducer.INLINE) {
      RawMemory.copy(ALL, consumer.messageAddress(), inline.address(length), length);
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

  /**
   * Gives the message's memory back to its sender.
   *
   * @return whether the sender sleeps and must be woken
   */
  boolean release() {
    RingConsumer from = ring;
    return from != null && line != RingProducer.INLINE && from.release(line);
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
