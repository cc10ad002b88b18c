// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.support.Fuzzer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * The words of a ring, each of which the peer may write at any time. An input is a list of steps of
 * 16 bytes: sends, receptions, and stores to the ring's memory.
 */
class RingFuzzTest {

  // A step: 4 bytes the action, 4 bytes its argument, 8 bytes a value to store.
  private static final int STEP = 16;
  private static final int SEND = 0;
  private static final int RECEIVE = 1;
  private static final int POLL = 2;
  private static final int HOLD = 3;
  private static final int STORE_INT = 4;
  private static final int STORE_LONG = 5;
  private static final int FILL = 6;
  private static final int ACTIONS = 7;

  private static final int MOST_STEPS = 64;
  private static final int MOST_AT_ONCE = 64;

  private static byte[] steps(long... numbers) {
    ByteBuffer bytes = ByteBuffer.allocate(numbers.length / 3 * STEP);
    bytes.order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < numbers.length; i += 3) {
      bytes.putInt((int) numbers[i]).putInt((int) numbers[i + 1]).putLong(numbers[i + 2]);
    }
    return bytes.array();
  }

  private static List<byte[]> samples(RingLayout layout) {
    long records = layout.recordsOffset();
    long full = layout.capacity();
    return List.of(
        steps(SEND, 10, 0, SEND, 9_000, 0, RECEIVE, 0, 0, POLL, 0, 0, RECEIVE, 0, 0),
        steps(SEND, 0, 0, SEND, 8, 0, HOLD, 0, 0, SEND, 9, 0, RECEIVE, 0, 0, SEND, 9_000, 0),
        steps(STORE_LONG, records, RecordHeader.inline(40), POLL, 0, 0, RECEIVE, 0, 0),
        steps(STORE_LONG, records, RecordHeader.padding(full), RECEIVE, 0, 0),
        steps(FILL, 8, 0, STORE_LONG, RingLayout.CONSUMED, full / 2, FILL, 8, 0, RECEIVE, 0, 0),
        steps(
            FILL,
            0,
            0,
            STORE_LONG,
            RingLayout.HELD,
            HeldRecord.of(0, 8),
            STORE_LONG,
            RingLayout.CONSUMED,
            32,
            FILL,
            0,
            0),
        steps(
            SEND,
            9_000,
            0,
            SEND,
            99,
            0,
            STORE_INT,
            RingLayout.RELEASES,
            ReleaseEntry.of(0, 1),
            SEND,
            9_000,
            0),
        steps(STORE_LONG, records, RecordHeader.lines(0, layout.maxMessage()), RECEIVE, 0, 0),
        steps(
            STORE_LONG,
            records,
            RecordHeader.padding(full - 16),
            STORE_LONG,
            records + full - 16,
            RecordHeader.inline(Math.min(8, layout.inlineMax())),
            POLL,
            0,
            0,
            RECEIVE,
            0,
            0),
        steps(STORE_LONG, records, RecordHeader.lines(3, 500), RECEIVE, 0, 0),
        steps(STORE_LONG, records, RecordHeader.padding(full / 2), RECEIVE, 0, 0, POLL, 0, 0),
        steps(SEND, 8, 0, STORE_LONG, RingLayout.CONSUMED, 16, SEND, 8, 0, SEND, 8, 0),
        steps(
            SEND, 8, 0, SEND, 0, 0, STORE_LONG, RingLayout.HELD, HeldRecord.of(0, 16), SEND, 8, 0),
        steps(SEND, 9_000, 0, STORE_INT, RingLayout.RELEASES, ReleaseEntry.of(0, 1), SEND, 99, 0),
        steps(STORE_INT, RingLayout.RELEASES, ReleaseEntry.of(200, 1), SEND, 9_000, 0, SEND, 99, 0),
        steps(
            STORE_INT,
            RingLayout.SENDER_ASLEEP,
            1,
            SEND,
            8,
            0,
            RECEIVE,
            0,
            0,
            STORE_INT,
            RingLayout.RECEIVER_ASLEEP,
            1,
            SEND,
            8,
            0));
  }

  @Test
  void noWordOfALargeRingLeadsOutOfIt() {
    fuzz("words of a ring of 16 KiB", new RingLayout(14, 256, 10_000));
  }

  @Test
  void noWordOfASmallRingLeadsOutOfIt() {
    fuzz("words of a ring of 1 KiB", new RingLayout(10, 256, 10_000));
  }

  @Test
  void noWordOfARingWithoutInlineMessagesLeadsOutOfIt() {
    fuzz("words of a ring of 64 bytes", new RingLayout(6, 256, 10_000));
  }

  private static void fuzz(String name, RingLayout layout) {
    try (Arena arena = Arena.ofShared()) { // the fuzzer has a thread of its own
      Fenced ring = new Fenced(arena, layout.ringSize());
      Fenced buffer = new Fenced(arena, layout.bufferSize());
      new Fuzzer(name, 5_000)
          .permits(CorruptRingException.class)
          .allocates(4 << 20) // for the messages that are sent and copied
          .bytes(
              samples(layout),
              bytes -> {
                ring.memory.fill((byte) 0);
                try {
                  run(new Rings(layout, ring.memory, buffer.memory), bytes);
                } finally {
                  ring.assertIntact();
                  buffer.assertIntact();
                }
                return true;
              });
    }
  }

  private static void run(Rings rings, byte[] bytes) {
    ByteBuffer steps = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < MOST_STEPS && steps.remaining() >= STEP; i++) {
      int action = Math.floorMod(steps.getInt(), ACTIONS);
      int argument = steps.getInt();
      long value = steps.getLong();
      switch (action) {
        case SEND -> rings.send(new byte[Math.floorMod(argument, rings.layout.maxMessage() + 1)]);
        case RECEIVE -> receive(rings);
        case POLL ->
            rings.consumer.pollInline(
                (memory, offset, length) ->
                    assertThat(memory.asSlice(offset, length).byteSize())
                        .isBetween(0L, (long) rings.layout.inlineMax()),
                MOST_AT_ONCE);
        case HOLD -> hold(rings);
        case FILL -> fill(rings, Math.floorMod(argument, rings.layout.inlineMax() + 1));
        case STORE_INT ->
            rings.ring.set(ValueLayout.JAVA_INT, place(rings, argument, 4), (int) value);
        default -> rings.ring.set(ValueLayout.JAVA_LONG, place(rings, argument, 8), value);
      }
    }
  }

  private static long place(Rings rings, int argument, int size) {
    return Math.floorMod(argument, rings.layout.ringSize()) & -size;
  }

  /**
   * Sends until there is no room. The receiver may have published one count that becomes valid only
   * when the ring is full, so the ring can be filled at most twice.
   */
  private static void fill(Rings rings, int length) {
    byte[] message = new byte[length];
    long bytes = 0;
    while (rings.send(message)) {
      bytes += RingLayout.recordSize(length);
      if (bytes > 2L * rings.layout.capacity()) {
        throw new AssertionError(bytes + " bytes sent, in a ring of " + rings.layout.capacity());
      }
    }
  }

  private static void receive(Rings rings) {
    if (rings.consumer.next()) {
      assertThat(rings.consumer.messageLength()).isBetween(0, rings.layout.maxMessage());
      assertThat(rings.receive().length).isLessThanOrEqualTo(rings.layout.maxMessage());
    }
  }

  private static void hold(Rings rings) {
    if (rings.consumer.next()) {
      boolean ignored =
          rings.consumer.messageLine() == RingProducer.INLINE && rings.consumer.hold();
      rings.consumer.advance();
      rings.consumer.acknowledge();
    }
  }

  @Test
  void aDescriptorIsOfALayoutWithinTheLimitsOrNone() {
    MemorySegment descriptor = MemorySegment.ofArray(new long[RingLayout.DESCRIPTOR_SIZE / 8]);
    RingLayout usual = new RingLayout(20, 65_536, 1 << 20);
    usual.writeDescriptor(descriptor, RingLayout.FLAG_MEMBARRIER, 17, 4, 8);
    byte[] first = descriptor.toArray(ValueLayout.JAVA_BYTE);
    RingLayout largest = new RingLayout(RingLayout.MAX_RING_SHIFT, RingLayout.MAX_LINES, 1 << 30);
    largest.writeDescriptor(descriptor, 3, -1, -1, RingLayout.MAX_LANES);
    byte[] second = descriptor.toArray(ValueLayout.JAVA_BYTE);
    new Fuzzer("descriptors of a ring", 20_000)
        .allocates(8 << 10)
        .bytes(
            List.of(first, second),
            bytes -> {
              int length = Math.min(bytes.length, RingLayout.DESCRIPTOR_SIZE);
              descriptor.fill((byte) 0);
              MemorySegment.copy(bytes, 0, descriptor, ValueLayout.JAVA_BYTE, 0, length);
              Optional<RingLayout.Descriptor> read = RingLayout.readDescriptor(descriptor);
              if (read.isEmpty()) {
                assertThat(RingLayout.flaw(descriptor)).hasSizeBetween(1, 200);
                return false;
              }
              RingLayout layout = read.get().layout();
              assertThat(layout.ringSize()).isBetween(4096L, 1L << 25);
              assertThat(layout.bufferSize()).isBetween(4096L, 1L << 30);
              assertThat(layout.maxMessage()).isBetween(0, 1 << 30);
              assertThat(read.get().lanes()).isBetween(0, RingLayout.MAX_LANES);
              return true;
            });
  }

  /** Memory between two areas that nothing may write to. */
  private static final class Fenced {

    private static final int FENCE = 4096;
    private static final byte UNTOUCHED = 0x5a;

    final MemorySegment memory;
    private final MemorySegment before;
    private final MemorySegment after;
    private final MemorySegment expected;

    Fenced(Arena arena, long size) {
      MemorySegment all = arena.allocate(size + 2 * FENCE, RingLayout.LINE).fill(UNTOUCHED);
      before = all.asSlice(0, FENCE);
      memory = all.asSlice(FENCE, size);
      after = all.asSlice(FENCE + size);
      expected = arena.allocate(FENCE).fill(UNTOUCHED);
    }

    void assertIntact() {
      if (before.mismatch(expected) >= 0 || after.mismatch(expected) >= 0) {
        before.fill(UNTOUCHED);
        after.fill(UNTOUCHED);
        throw new AssertionError("a store outside of the memory");
      }
    }
  }
}
