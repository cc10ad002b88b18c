// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import dev.ferrule.posix.SealedFile;
import dev.ferrule.posix.SharedMapping;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;

/** Both sides of a ring on which several threads send. */
final class SharedRings {

  final RingLayout layout;
  final MemorySegment ring;
  final MemorySegment buffer;
  final ConcurrentRingProducer producer;
  final RingConsumer consumer;
  final AtomicInteger notifiedOfRoom = new AtomicInteger();

  /** Creates rings in ordinary memory, where the lock cannot be revoked. */
  SharedRings(RingLayout layout) {
    this(layout, new RecordLock.Policy(200, 500, 3_600_000_000_000L, 100));
  }

  SharedRings(RingLayout layout, RecordLock.Policy policy) {
    this(
        layout,
        Arena.ofAuto().allocate(layout.ringSize(), RingLayout.LINE),
        policy,
        PlainRecords::new,
        step -> {});
  }

  /** Creates rings in shared memory. */
  static SharedRings mapped(
      RingLayout layout, RecordLock.Policy policy, Consumer<RingStep> onStep) {
    return mapped(layout, policy, onStep, UnaryOperator.identity());
  }

  /** Makes rings in shared memory, whose records are mapped in another way. */
  static SharedRings mapped(
      RingLayout layout,
      RecordLock.Policy policy,
      Consumer<RingStep> onStep,
      UnaryOperator<RecordMemory> other) {
    try (SealedFile file = SealedFile.create(layout.ringSize(), layout.ringSize())) {
      SharedMapping mapping = file.map(layout.ringSize(), Arena.ofAuto());
      return new SharedRings(
          layout,
          mapping.view(),
          policy,
          address -> other.apply(RecordMemory.of(mapping, layout)),
          onStep);
    }
  }

  private SharedRings(
      RingLayout layout,
      MemorySegment ring,
      RecordLock.Policy policy,
      LongFunction<RecordMemory> records,
      Consumer<RingStep> onStep) {
    this.layout = layout;
    this.ring = ring;
    buffer = Arena.ofAuto().allocate(layout.bufferSize(), RingLayout.LINE);
    ConcurrentRingProducer.Waiters waiters =
        new ConcurrentRingProducer.Waiters() {
          @Override
          public void wake() {
            notifiedOfRoom.incrementAndGet();
          }

          @Override
          public void checkOpen() {}
        };
    RecordMemory memory = records.apply(ring.address() + layout.recordsOffset());
    producer =
        new ConcurrentRingProducer(layout, ring, memory, buffer, true, waiters, policy) {
          @Override
          protected void reached(RingStep step) {
            onStep.accept(step);
          }
        };
    consumer = RingFactory.ORDINARY.consumer(layout, ring, buffer, true);
  }

  private record PlainRecords(long address) implements RecordMemory {
    @Override
    public RecordMemory duplicate() {
      throw new UnsupportedOperationException("ordinary memory has one address");
    }

    @Override
    public boolean retire() {
      return false;
    }
  }

  /** Sends a message; returns its id, or 0 if there is no room for it. */
  long send(byte[] message) {
    if (message.length <= producer.inlineMax()) {
      return producer.trySend(MemorySegment.ofArray(message), 0, message.length);
    }
    int line = producer.reserve(message.length);
    return line == ConcurrentRingProducer.FULL ? 0 : publish(line, message);
  }

  /** Claims lines for a message of any length, and sends it; returns its id, or 0. */
  long sendInLines(byte[] message) {
    int line = producer.reserve(message.length);
    return line == ConcurrentRingProducer.FULL ? 0 : publish(line, message);
  }

  long publish(int line, byte[] message) {
    long offset = (long) line * RingLayout.LINE;
    MemorySegment.copy(MemorySegment.ofArray(message), 0, buffer, offset, message.length);
    return producer.publish(line, message.length);
  }

  /** Returns the message that the consumer found. */
  byte[] found() {
    return consumer
        .messageMemory()
        .asSlice(consumer.messageOffset(), consumer.messageLength())
        .toArray(ValueLayout.JAVA_BYTE);
  }

  /** Receives a message and frees it. */
  byte[] receive() {
    if (!consumer.next()) {
      throw new AssertionError("no message");
    }
    byte[] message = found();
    int line = take();
    if (line != RingProducer.INLINE) {
      consumer.release(line);
    }
    return message;
  }

  /** Consumes the found message; returns its line, which is to be released, or INLINE. */
  int take() {
    int line = consumer.messageLine();
    consumer.advance();
    consumer.acknowledge();
    return line;
  }

  /** Returns the maximum number of records that consist of a header. */
  static int records(RingLayout layout) {
    return layout.capacity() / RingLayout.HEADER - 1;
  }
}
