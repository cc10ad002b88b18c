// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Both sides of one ring, in ordinary memory of this process. */
final class Rings {

  final RingLayout layout;
  final MemorySegment ring;
  final MemorySegment buffer;
  final RingProducer producer;
  final RingConsumer consumer;
  final ReceiverSleep sleep;

  Rings(RingLayout layout, boolean fences) {
    this(layout, fences, memory(layout.ringSize()));
  }

  private Rings(RingLayout layout, boolean fences, MemorySegment ring) {
    this(layout, fences, ring, memory(layout.bufferSize()), ring);
  }

  /** Creates a ring in memory of the caller's, zeroed. */
  Rings(RingLayout layout, MemorySegment ring, MemorySegment buffer) {
    this(layout, true, ring, buffer, ring);
  }

  private Rings(
      RingLayout layout,
      boolean fences,
      MemorySegment ring,
      MemorySegment buffer,
      MemorySegment first) {
    this.layout = layout;
    this.ring = ring;
    this.buffer = buffer;
    producer = new RingProducer(layout, ring, buffer, first, fences);
    consumer = new RingConsumer(layout, ring, buffer, fences);
    sleep = new ReceiverSleep(first, fences);
  }

  private static MemorySegment memory(long size) {
    return Arena.ofAuto().allocate(size, RingLayout.LINE);
  }

  /** Returns a further ring, whose receiver sleeps by the flag of this one. */
  Rings lane(boolean fences) {
    return new Rings(layout, fences, memory(layout.ringSize()), memory(layout.bufferSize()), ring);
  }

  /** Stages a message if there is room for it. */
  boolean stage(byte[] message) {
    int line = producer.reserve(message.length);
    if (line == RingProducer.FULL) {
      return false;
    }
    stage(line, message, message.length);
    return true;
  }

  void stage(int line, byte[] message, int reservedLength) {
    MemorySegment source = MemorySegment.ofArray(message);
    if (line == RingProducer.INLINE) {
      producer.stageInline(source, 0, message.length, reservedLength);
    } else {
      MemorySegment.copy(source, 0, buffer, (long) line * RingLayout.LINE, message.length);
      producer.stageLines(line, message.length);
    }
  }

  /** Claims a region in place, and writes it. */
  long claim(byte[] message) {
    long place = producer.claim(message.length);
    if (place != RingProducer.NO_OFFSET) {
      MemorySegment.copy(
          MemorySegment.ofArray(message), 0, producer.records(), place, message.length);
    }
    return place;
  }

  boolean send(byte[] message) {
    boolean sent = stage(message);
    if (sent) {
      producer.publish();
    }
    return sent;
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
    int line = consumer.messageLine();
    consumer.advance();
    consumer.acknowledge();
    if (line != RingProducer.INLINE) {
      consumer.release(line);
    }
    return message;
  }

  static byte[] message(int length, int seed) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) seed);
    for (int i = 0; i < Math.min(length, Integer.BYTES); i++) {
      bytes[i] = (byte) (seed >>> 8 * i);
    }
    return bytes;
  }
}
