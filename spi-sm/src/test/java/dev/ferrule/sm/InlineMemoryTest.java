// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.RawMemory;
import dev.ferrule.sm.ring.RingLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InlineMemoryTest {

  private static final int SHORT = 8;
  private static final int LONG = RingLayout.INLINE_MAX;

  @TempDir private Path folder;

  @Test
  void theViewsShowTheMemory() {
    InlineMemory memory = InlineMemory.allocate(3)[2];
    for (int length : new int[] {SHORT, LONG}) {
      RawMemory.ALL.set(ValueLayout.JAVA_BYTE, memory.address(length), (byte) 7);
      long offset = memory.offset(length);
      assertThat(memory.view(length).get(ValueLayout.JAVA_BYTE, offset)).isEqualTo((byte) 7);
      assertThat(memory.readOnlyView(length).get(ValueLayout.JAVA_BYTE, offset))
          .isEqualTo((byte) 7);
      assertThat(memory.readOnlyView(length).isReadOnly()).isTrue();
      assertThat(memory.view(length).byteSize()).isGreaterThanOrEqualTo(offset + length);
    }
  }

  /** Freed memory would be allocated again at once. */
  @Test
  void theSegmentOfARegionThatTheProgramLosesKeepsItsMessage() {
    int count = 200;
    try (SmProviderTest.Pair pair = SmProviderTest.Pair.open(URI.create("sm://" + folder + "/a"))) {
      List<MemorySegment> messages = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        pair.client().sender().send(MemorySegment.ofArray(new long[] {i}));
        messages.add(pair.server().receiver().receive().segment());
      }
      for (int i = 0; i < 5; i++) {
        System.gc();
        for (int block = 0; block < count; block++) {
          Arena.ofAuto().allocate(64L * 4 * RingLayout.LINE, RingLayout.LINE).fill((byte) 0xff);
        }
      }
      for (int i = 0; i < count; i++) {
        assertThat(messages.get(i).get(ValueLayout.JAVA_LONG, 0)).isEqualTo(i);
      }
    }
  }
}
