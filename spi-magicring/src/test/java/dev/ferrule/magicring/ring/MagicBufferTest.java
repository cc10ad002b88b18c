// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MagicBufferTest {

  private static final long PAGE = MagicBuffer.pageSize();

  private static long mappings() {
    try {
      return Files.readAllLines(Path.of("/proc/self/maps")).stream()
          .filter(line -> line.contains("ferrule-ring"))
          .count();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 7, 64, 1000})
  void bytesWrittenToOneMappingAreVisibleInTheOther(int pages) {
    try (MagicBuffer buffer = MagicBuffer.allocate(pages * PAGE)) {
      MemorySegment memory = buffer.segment();
      long size = buffer.size();
      assertThat(size).isEqualTo(pages * PAGE);
      assertThat(memory.byteSize()).isEqualTo(2 * size);
      for (long offset : new long[] {0, 1, size / 2, size - 1}) {
        memory.set(JAVA_BYTE, offset, (byte) 1);
        assertThat(memory.get(JAVA_BYTE, offset + size)).isEqualTo((byte) 1);
        memory.set(JAVA_BYTE, offset + size, (byte) 2);
        assertThat(memory.get(JAVA_BYTE, offset)).isEqualTo((byte) 2);
      }
      assertThat(memory.asSlice(0, size).mismatch(memory.asSlice(size))).isEqualTo(-1);
    }
  }

  @Test
  void aMessageThatWrapsAroundIsContiguousAndItsEndIsAtTheStart() {
    try (MagicBuffer buffer = MagicBuffer.allocate(PAGE)) {
      byte[] message = new byte[(int) PAGE - 1];
      for (int i = 0; i < message.length; i++) {
        message[i] = (byte) (i * 31 + 7);
      }
      long start = PAGE - 100;

      MemorySegment.copy(MemorySegment.ofArray(message), 0, buffer.segment(), start, PAGE - 1);

      assertThat(buffer.segment().asSlice(start, PAGE - 1).toArray(JAVA_BYTE)).isEqualTo(message);
      assertThat(buffer.segment().asSlice(0, PAGE - 101).toArray(JAVA_BYTE))
          .isEqualTo(java.util.Arrays.copyOfRange(message, 100, message.length));
    }
  }

  @Test
  void aNewBufferIsZeroed() {
    try (MagicBuffer buffer = MagicBuffer.allocate(5 * PAGE)) {
      assertThat(buffer.segment().toArray(JAVA_BYTE)).containsOnly(0);
    }
  }

  @Test
  void hugePagesAreOptional() {
    for (long size : new long[] {PAGE, 2L << 20, 6L << 20}) {
      try (MagicBuffer buffer = MagicBuffer.allocateHuge(size)) {
        buffer.segment().set(JAVA_BYTE, size - 1, (byte) 9);
        assertThat(buffer.segment().get(JAVA_BYTE, 2 * size - 1)).isEqualTo((byte) 9);
        if (size % (2L << 20) != 0) {
          assertThat(buffer.isHuge()).isFalse();
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, 1, 4095, 4097, 6000, Long.MIN_VALUE, Long.MAX_VALUE})
  void aSizeThatIsNotAMultipleOfThePageSizeIsRefused(long size) {
    assertThatThrownBy(() -> MagicBuffer.allocate(size))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(Long.toString(size))
        .hasMessageContaining(Long.toString(PAGE));
    assertThatThrownBy(() -> MagicBuffer.allocateHuge(size))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void anAllocationThatIsTooLargeFailsAndLeavesNoMapping() {
    long before = mappings();

    assertThatThrownBy(() -> MagicBuffer.allocate(1L << 50))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining(Long.toString(1L << 50));

    assertThat(mappings()).as("leak of mappings").isLessThanOrEqualTo(before);
  }

  @Test
  void aSegmentOfAClosedBufferReadsZerosAndBothMappingsGoWhenItIsUnreachable() {
    long before = mappings();
    writeAndClose();
    while (mappings() > before) {
      System.gc();
    }
  }

  private static void writeAndClose() {
    MagicBuffer buffer = MagicBuffer.allocate(4 * PAGE);
    MemorySegment memory = buffer.segment();
    memory.fill((byte) 7);

    buffer.close();
    buffer.close();
    System.gc();

    assertThat(memory.toArray(JAVA_BYTE)).containsOnly(0);
    memory.set(JAVA_BYTE, PAGE, (byte) 1);
  }

  @Test
  void buffersOfManyThreadsDoNotOverlap() throws Exception {
    int threads = 8;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Future<List<MagicBuffer>>> made = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        made.add(
            pool.submit(() -> {
              List<MagicBuffer> mine = new ArrayList<>();
              for (int i = 0; i < 50; i++) {
                MagicBuffer.allocate(2 * PAGE).close(); // frees its range for other threads
                mine.add(MagicBuffer.allocate((1 + i % 3) * PAGE));
              }
              return mine;
            }));
      }
      List<MagicBuffer> all = new ArrayList<>();
      for (Future<List<MagicBuffer>> some : made) {
        all.addAll(some.get());
      }
      for (int i = 0; i < all.size(); i++) {
        MagicBuffer buffer = all.get(i);
        buffer.segment().asSlice(0, buffer.size()).fill((byte) (i % 127));
      }
      for (int i = 0; i < all.size(); i++) {
        MagicBuffer buffer = all.get(i);
        assertThat(buffer.segment().toArray(JAVA_BYTE)).containsOnly((byte) (i % 127));
        buffer.close();
      }
    } finally {
      pool.shutdownNow();
    }
  }
}
