// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;

/** Both sides of a ring that several threads send on, in ordinary memory of this process. */
final class SharedRings {

  final RingLayout layout;
  final MemorySegment ring;
  final MemorySegment buffer;
  final ConcurrentRingProducer producer;
  final RingConsumer consumer;
  final AtomicInteger toldOfRoom = new AtomicInteger();

  SharedRings(RingLayout layout) {
    this(layout, RingEnds.ORDINARY);
  }

  SharedRings(RingLayout layout, RingEnds ends) {
    this.layout = layout;
    ring = Arena.ofAuto().allocate(layout.ringSize(), RingLayout.LINE);
    buffer = Arena.ofAuto().allocate(layout.bufferSize(), RingLayout.LINE);
    producer =
        ends.concurrentProducer(layout, ring, buffer, true, () -> toldOfRoom.incrementAndGet());
    consumer = ends.consumer(layout, ring, buffer, true);
  }

  /** Sends a message; returns its id, or 0 if there is no room for it. */
  long send(byte[] message) {
    int line = producer.reserve(message.length);
    return line == ConcurrentRingProducer.FULL ? 0 : publish(line, message);
  }

  long publish(int line, byte[] message) {
    long offset = (long) line * RingLayout.LINE + RingLayout.SHARED_PREFIX;
    MemorySegment.copy(MemorySegment.ofArray(message), 0, buffer, offset, message.length);
    return producer.publish(line, message.length);
  }

  /** The message that the consumer found. */
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
    consumer.release(line);
    return message;
  }

  /** Takes the message that was found; returns its line, which is to be released. */
  int take() {
    int line = consumer.messageLine();
    consumer.advance();
    consumer.acknowledge();
    return line;
  }

  /** The offset of the header of a record, by its number. */
  long header(long number) {
    return layout.recordsOffset() + number * RingLayout.HEADER % layout.capacity();
  }

  /** The number of records, each of which is a header alone. */
  static int records(RingLayout layout) {
    return layout.capacity() / RingLayout.HEADER;
  }
}
