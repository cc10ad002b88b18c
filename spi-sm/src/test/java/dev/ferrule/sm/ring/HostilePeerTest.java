// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/**
 * Whatever the other side writes into shared memory, it is an error that names it, or no message;
 * never an access out of bounds.
 */
class HostilePeerTest {

  private static final RingLayout LAYOUT = new RingLayout(6, 256, 10_000);

  private final Rings rings = new Rings(LAYOUT, true);

  private void header(int slot, int type, int lap, int length) {
    rings.ring.set(
        ValueLayout.JAVA_INT,
        LAYOUT.slotsOffset() + (long) slot * RingLayout.SLOT,
        RingHeader.of(type, lap, length));
  }

  private void lines(int length, int line) {
    rings.ring.set(ValueLayout.JAVA_INT, LAYOUT.slotsOffset() + RingLayout.SLOT_LENGTH, length);
    rings.ring.set(ValueLayout.JAVA_INT, LAYOUT.slotsOffset() + RingLayout.SLOT_LINE, line);
    header(0, RingHeader.TYPE_LINES, 1, 0);
  }

  private void assertCorrupt(String part) {
    assertThatThrownBy(rings.consumer::next)
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining(part);
  }

  @Test
  void shouldRefuseATypeThatThereIsNot() {
    header(0, 9, 1, 4);
    assertCorrupt("unknown type 9");
  }

  @Test
  void shouldRefuseALapThatIsNeitherThisNorTheLast() {
    header(0, RingHeader.TYPE_INLINE, 7, 4);
    assertCorrupt("lap 7 in lap 1");
  }

  @Test
  void shouldRefuseAnInlineMessageThatIsTooLong() {
    header(0, RingHeader.TYPE_INLINE, 1, RingLayout.INLINE_MAX + 1);
    assertCorrupt(RingLayout.INLINE_MAX + 1 + " bytes");
  }

  @Test
  void shouldRefuseAnInlineMessageThatEndsBehindTheRing() {
    for (int i = 0; i < LAYOUT.slots() - 1; i++) {
      rings.send(new byte[Rings.ONE_IN_A_SLOT]);
      rings.receive();
    }
    header(LAYOUT.slots() - 1, RingHeader.TYPE_INLINE, 1, 253);
    assertCorrupt("slot 63 of 64");
  }

  @Test
  void shouldRefusePaddingThatDoesNotEndWithTheRing() {
    header(0, RingHeader.TYPE_PADDING, 1, 3);
    assertCorrupt("padding of 3 slots");
  }

  @Test
  void shouldRefusePaddingThatIsLongerThanAnyCanBe() {
    header(0, RingHeader.TYPE_PADDING, 1, LAYOUT.slots());
    assertCorrupt("padding of 64 slots");
  }

  @Test
  void shouldRefusePaddingThatNoMessageOfTheRingNeeds() {
    RingLayout small = new RingLayout(2, 0, 100); // where none has more than one slot
    Rings four = new Rings(small, true);
    four.ring.set(
        ValueLayout.JAVA_INT, small.slotsOffset(), RingHeader.of(RingHeader.TYPE_PADDING, 1, 4));
    assertThatThrownBy(four.consumer::next)
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining("padding of 4 slots");
  }

  @Test
  void shouldRefuseAHeaderThatIsNoneButNotEmpty() {
    header(0, RingHeader.TYPE_EMPTY, 1, 5);
    assertCorrupt("unknown type 0");
  }

  @Test
  void shouldRefuseAMessageThatIsLongerThanAgreed() {
    lines(LAYOUT.maxMessage() + 1, 0);
    assertCorrupt("10001 bytes");
  }

  @Test
  void shouldRefuseANegativeLength() {
    lines(-1, 0);
    assertCorrupt("4294967295 bytes");
  }

  @Test
  void shouldRefuseAMessageThatStartsOrEndsOutsideTheBuffer() {
    lines(8, 256);
    assertCorrupt("line 256 of 256");
    lines(65, 255);
    assertCorrupt("line 255 of 256");
    lines(8, -1);
    assertCorrupt("line -1");
    lines(0, Integer.MIN_VALUE);
    assertCorrupt("line -2147483648");
  }

  @Test
  void shouldRefuseAReceiverThatTookMoreThanWasSent() {
    fill();
    rings.ring.set(ValueLayout.JAVA_LONG, RingLayout.CONSUMED, LAYOUT.slots() + 1L);
    assertThatThrownBy(() -> rings.producer.reserve(1))
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining("65");
  }

  @Test
  void shouldRefuseAReceiverThatTakesItsWordBack() {
    fill();
    rings.receive();
    assertThat(rings.send(new byte[Rings.ONE_IN_A_SLOT])).isTrue();
    rings.ring.set(ValueLayout.JAVA_LONG, RingLayout.CONSUMED, 0L);
    assertThatThrownBy(() -> rings.producer.reserve(1)).isInstanceOf(CorruptRingException.class);
  }

  private void fill() {
    for (int i = 0; i < LAYOUT.slots() - 1; i++) {
      assertThat(rings.send(new byte[Rings.ONE_IN_A_SLOT])).isTrue();
    }
  }

  @Test
  void shouldRefuseWhatCannotBeBehindAShortMessage() {
    for (int type = 0; type <= 9; type++) {
      if (type != RingHeader.TYPE_INLINE && type != RingHeader.TYPE_END) {
        behindAMessage(type, 1, 0);
        assertCorrupt("the type " + type + " behind other messages");
      }
    }
  }

  @Test
  void shouldRefuseAnythingButNothingOfAnotherLapBehindAShortMessage() {
    behindAMessage(RingHeader.TYPE_INLINE, 0, 8);
    assertCorrupt("lap 0 in lap 1");
    behindAMessage(RingHeader.TYPE_INLINE, 2, 8);
    assertCorrupt("lap 2 in lap 1");
  }

  @Test
  void shouldRefuseAMessageBehindAnotherThatEndsBehindTheirSlot() {
    int room = RingLayout.SLOT - RingLayout.inSlotFor(8) - Integer.BYTES;
    behindAMessage(RingHeader.TYPE_INLINE, 1, room);
    assertThat(rings.consumer.next()).isTrue();
    behindAMessage(RingHeader.TYPE_INLINE, 1, room + 1);
    assertCorrupt(room + 1 + " bytes in slot 0 of 64, after 12 bytes");
    behindAMessage(RingHeader.TYPE_INLINE, 1, 2000);
    assertCorrupt("2000 bytes");
  }

  @Test
  void shouldRefuseTheEndOfASlotThatHasNoMessages() {
    header(0, RingHeader.TYPE_END, 1, 0);
    assertCorrupt("unknown type 5");
  }

  @Test
  void shouldRefuseTheEndOfASlotThatHasALength() {
    behindAMessage(RingHeader.TYPE_END, 1, 3);
    assertCorrupt("type 5 behind other messages");
  }

  /** What the receiver finds when it has taken the first message. */
  private void behindAMessage(int type, int lap, int length) {
    if (rings.producer.messagesStaged() == 0) {
      rings.send(new byte[8]);
      rings.receive();
    }
    rings.ring.set(
        ValueLayout.JAVA_INT,
        LAYOUT.slotsOffset() + RingLayout.inSlotFor(8),
        RingHeader.of(type, lap, length));
  }

  @Test
  void shouldRefuseTheReleaseOfLinesThatWereNeverSent() {
    rings.producer.reserve(9_000); // claimed, so that its line is taken; but not sent
    rings.ring.set(ValueLayout.JAVA_INT, RingLayout.RELEASES, ReleaseEntry.of(0, 1));
    assertThatThrownBy(() -> rings.producer.reserve(9_000))
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining("payload line 0");
  }

  @Property(tries = 500)
  void shouldNeverReadOrWriteOutOfBoundsWhateverTheBytesAre(@ForAll long seed) {
    Random random = new Random(seed);
    Rings victim = new Rings(LAYOUT, true);
    for (int step = 0; step < 200; step++) {
      int writes = random.nextInt(4);
      for (int i = 0; i < writes; i++) {
        long offset =
            random.nextBoolean()
                ? RingLayout.SENDER_ASLEEP
                    + 4L * random.nextInt((int) (LAYOUT.ringSize() - RingLayout.SENDER_ASLEEP) / 4)
                : LAYOUT.slotsOffset() + 4L * random.nextInt(2 * RingLayout.SLOT / 4);
        int value =
            random.nextBoolean()
                ? random.nextInt()
                : RingHeader.of(
                    random.nextInt(6),
                    1 + random.nextInt(2),
                    random.nextInt(random.nextBoolean() ? 4200 : 100));
        victim.ring.set(ValueLayout.JAVA_INT, offset, value);
      }
      try {
        victim.send(new byte[random.nextInt(random.nextBoolean() ? 10_001 : 30)]);
        if (victim.consumer.next()) {
          assertThat(victim.consumer.messageLength()).isBetween(0, LAYOUT.maxMessage());
          victim.receive();
        }
      } catch (CorruptRingException e) {
        return; // noticed; the connection would be closed
      }
    }
  }

  @Property(tries = 500)
  void shouldNotTakeNonsenseForADescriptor(@ForAll long seed) {
    Random random = new Random(seed);
    MemorySegment ring = MemorySegment.ofArray(new long[8]);
    LAYOUT.writeDescriptor(ring, 0, 1, 2);
    for (int i = random.nextInt(4); i >= 0; i--) {
      ring.set(
          ValueLayout.JAVA_INT,
          4L * random.nextInt(RingLayout.DESCRIPTOR_SIZE / 4),
          random.nextInt());
    }
    Optional<RingLayout.Descriptor> read = RingLayout.readDescriptor(ring);
    read.ifPresent(
        descriptor -> {
          assertThat(descriptor.layout().ringSize()).isPositive();
          assertThat(descriptor.layout().bufferSize()).isBetween(4096L, 1L << 30);
        });
  }

  @Test
  void shouldReadBackADescriptor() {
    MemorySegment ring = MemorySegment.ofArray(new long[8]);
    assertThat(RingLayout.readDescriptor(ring)).isEmpty();
    LAYOUT.writeDescriptor(ring, RingLayout.FLAG_MEMBARRIER, 17, 4);
    assertThat(RingLayout.readDescriptor(ring))
        .contains(new RingLayout.Descriptor(LAYOUT, RingLayout.FLAG_MEMBARRIER, 17, 4));
  }
}
