// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.RawMemory;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class RecordWriterTest {

  private static final RingLayout LAYOUT = new RingLayout(9, 64, 1_000);
  private static final int CAPACITY = LAYOUT.capacity();
  private static final int LONGEST = RingLayout.recordSize(LAYOUT.inlineMax());

  private final Rings rings = new Rings(LAYOUT, true);

  /**
   * Returns a writer whose tail is at a position up to which the receiver has consumed all records.
   */
  private RecordWriter writer(long tail, long held) {
    receiverSays(0, HeldRecord.NONE);
    RecordWriter writer = new RecordWriter(LAYOUT, RawMemory.address(rings.ring));
    while (writer.published() < tail) {
      receiverSays(writer.published(), HeldRecord.NONE);
      assertThat(writer.reserveRecord(RingLayout.HEADER)).isTrue();
      writer.stageHeader(RecordHeader.lines(0, 0));
      writer.publishRecords();
    }
    receiverSays(tail, held);
    assertThat(writer.reserveRecord(CAPACITY)).isFalse(); // reads the receiver's words
    return writer;
  }

  private void receiverSays(long consumed, long held) {
    rings.ring.set(ValueLayout.JAVA_LONG, RingLayout.CONSUMED, consumed);
    rings.ring.set(ValueLayout.JAVA_LONG, RingLayout.HELD, held);
  }

  @Test
  void aMessageThatIsHeldAndARegionThatIsClaimedHoldUpNoOtherMessage() {
    int[] sizes = {8, 16, LONGEST - 8, LONGEST};
    int[] lengths = {0, 1, 9, LAYOUT.inlineMax() - 8, LAYOUT.inlineMax()};
    int inPlace = 0;
    for (long tail = CAPACITY; tail < 2 * CAPACITY; tail += 8) {
      for (int size : sizes) {
        for (int offset = 0; offset + size <= CAPACITY; offset += 8) {
          for (int claimed : lengths) {
            RecordWriter writer = writer(tail, HeldRecord.of(offset, size));
            if (writer.claim(claimed) != RecordWriter.NO_OFFSET) {
              inPlace++;
            } else {
              assertThat(writer.reserveRecord(RingLayout.recordSize(claimed))).isTrue();
            }
            assertThat(writer.reserveRecord(LONGEST))
                .as("tail %d, held %d at %d, claimed %d", tail, size, offset, claimed)
                .isTrue();
          }
        }
      }
    }
    assertThat(inPlace).isPositive();
  }
}
