// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every value that the other side writes to shared memory causes an error that names it, or is no
 * message; it never causes an access out of bounds.
 */
class HostilePeerTest {

  private static final RingLayout LAYOUT = new RingLayout(14, 256, 10_000);

  private final Rings rings = new Rings(LAYOUT, true);

  private void header(long header) {
    rings.ring.set(ValueLayout.JAVA_LONG, LAYOUT.recordsOffset(), header);
  }

  private void assertCorrupt(String part) {
    assertThatThrownBy(rings.consumer::next)
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining(part);
  }

  @Test
  void shouldRefuseAnUnknownType() {
    for (int type = 5; type < 16; type++) {
      header(type);
      assertCorrupt("header 0x" + Integer.toHexString(type));
    }
  }

  @Test
  void shouldRefuseAHeaderThatIsEmptyButNotZero() {
    header(1L << 40);
    assertCorrupt("header 0x10000000000");
  }

  @Test
  void shouldRefuseAnInlineMessageThatIsTooLong() {
    header(RecordHeader.inline(LAYOUT.inlineMax() + 1));
    assertCorrupt(LAYOUT.inlineMax() + 1 + " bytes");
    header(-1L << 4 | RecordHeader.TYPE_INLINE);
    assertCorrupt("bytes");
  }

  @Test
  void shouldRefuseAnInlineMessageThatEndsBehindTheRing() {
    for (int i = 0; i < 7; i++) {
      rings.send(new byte[2040]);
      rings.receive();
    }
    long last = 7 * 2048L;
    rings.ring.set(
        ValueLayout.JAVA_LONG, LAYOUT.recordsOffset() + last, RecordHeader.padding(1024));
    rings.ring.set(
        ValueLayout.JAVA_LONG, LAYOUT.recordsOffset() + last + 1024, RecordHeader.inline(1017));
    assertCorrupt("1017 bytes at offset 15360 of 16384 bytes");
    assertThatThrownBy(() -> rings.consumer.pollInline((buffer, offset, length) -> {}, 1))
        .isInstanceOf(CorruptRingException.class);
    rings.ring.set(
        ValueLayout.JAVA_LONG, LAYOUT.recordsOffset() + last + 1024, RecordHeader.inline(1016));
    assertThat(rings.consumer.next()).isTrue();
  }

  @Test
  void shouldRefusePaddingThatEndsBehindTheRing() {
    header(RecordHeader.padding(LAYOUT.capacity() + 8));
    assertCorrupt("padding of 16392 bytes");
  }

  @Test
  void shouldRefusePaddingOfNothing() {
    header(RecordHeader.padding(0));
    assertCorrupt("padding of 0 bytes");
  }

  @Test
  void shouldRefusePaddingThatIsNoMultipleOfAHeader() {
    header(RecordHeader.padding(12));
    assertCorrupt("padding of 12 bytes");
  }

  @Test
  void shouldNotSkipPaddingForever() {
    header(RecordHeader.padding(LAYOUT.capacity()));
    assertCorrupt("the whole ring of ");
  }

  @Test
  void shouldRefuseAMessageThatIsLongerThanAgreed() {
    header(RecordHeader.lines(0, LAYOUT.maxMessage() + 1));
    assertCorrupt("10001 bytes");
  }

  @Test
  void shouldRefuseANegativeLength() {
    header(RecordHeader.lines(0, -1));
    assertCorrupt("4294967295 bytes");
  }

  @Test
  void shouldRefuseAMessageThatStartsOrEndsOutsideTheBuffer() {
    header(RecordHeader.lines(256, 8));
    assertCorrupt("line 256 of 256");
    header(RecordHeader.lines(255, 65));
    assertCorrupt("line 255 of 256");
    header(RecordHeader.lines(RingLayout.MAX_LINES - 1, 0));
    assertCorrupt("line 16777215");
  }

  @Test
  void shouldRefuseAConsumedCountBeyondThePublishedOne() {
    fill();
    rings.ring.set(ValueLayout.JAVA_LONG, RingLayout.CONSUMED, LAYOUT.capacity() + 8L);
    assertThatThrownBy(() -> rings.producer.reserve(1_000))
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining("16392");
  }

  @Test
  void shouldRefuseAConsumedCountThatGoesBackwards() {
    fill();
    rings.receive();
    fill();
    rings.ring.set(ValueLayout.JAVA_LONG, RingLayout.CONSUMED, 0L);
    assertThatThrownBy(() -> rings.producer.reserve(1_000))
        .isInstanceOf(CorruptRingException.class);
  }

  @Test
  void shouldRefuseAReceiverThatConsumedAPartOfAHeader() {
    fill();
    rings.ring.set(ValueLayout.JAVA_LONG, RingLayout.CONSUMED, 4L);
    assertThatThrownBy(() -> rings.producer.reserve(1_000))
        .isInstanceOf(CorruptRingException.class);
  }

  private void fill() {
    while (rings.send(new byte[1_000])) {
      continue;
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 4", "0, 12", "4, 16", "16384, 8", "16376, 16", "0, 4096", "0, 0"})
  void shouldRefuseAnInvalidHeldRecord(long offset, int size) {
    fill();
    rings.ring.set(
        ValueLayout.JAVA_LONG, RingLayout.HELD, offset == 0 && size == 0 ? 1 : held(offset, size));
    assertThatThrownBy(() -> rings.producer.reserve(1_000))
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining("held record");
  }

  private static long held(long offset, int size) {
    return HeldRecord.of(offset, size);
  }

  @Property(tries = 200)
  void shouldFailOrContinueWhateverRecordTheReceiverHolds(@ForAll long seed) {
    Random random = new Random(seed);
    Rings victim = new Rings(LAYOUT, true);
    for (int step = 0; step < 2_000; step++) {
      victim.ring.set(
          ValueLayout.JAVA_LONG,
          RingLayout.HELD,
          held(8L * random.nextInt(LAYOUT.capacity() / 8), 8 * (1 + random.nextInt(256))));
      try {
        victim.send(new byte[random.nextInt(2_000)]);
        while (victim.consumer.next()) {
          victim.receive();
        }
      } catch (CorruptRingException e) {
        return; // detected; the connection would be closed
      }
    }
  }

  @Test
  void shouldRefuseTheReleaseOfLinesThatWereNeverSent() {
    rings.producer.reserve(9_000); // claimed, so that its line is in use; but not sent
    rings.ring.set(ValueLayout.JAVA_INT, RingLayout.RELEASES, ReleaseEntry.of(0, 1));
    assertThatThrownBy(() -> rings.producer.reserve(9_000))
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining("payload line 0");
  }

  @Test
  void shouldNameWhatIsWrongWithADescriptor() {
    MemorySegment ring = MemorySegment.ofArray(new long[8]);
    assertThat(RingLayout.flaw(ring)).isEqualTo("does not start with a ring of version 3");
    LAYOUT.writeDescriptor(ring, 0, 17, 4, 8);
    ring.set(ValueLayout.JAVA_INT, RingLayout.DESCRIPTOR_MAX_MESSAGE, 1 << 30);
    assertThat(RingLayout.readDescriptor(ring)).isEmpty();
    assertThat(RingLayout.flaw(ring))
        .startsWith("starts with a ring of invalid sizes: messages of 1073741824 bytes");
  }

  @Test
  void shouldReadBackADescriptor() {
    MemorySegment ring = MemorySegment.ofArray(new long[8]);
    assertThat(RingLayout.readDescriptor(ring)).isEmpty();
    LAYOUT.writeDescriptor(ring, RingLayout.FLAG_MEMBARRIER, 17, 4, 8);
    assertThat(RingLayout.readDescriptor(ring))
        .contains(new RingLayout.Descriptor(LAYOUT, RingLayout.FLAG_MEMBARRIER, 17, 4, 8));
  }
}
