// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class RawMemoryTest {

  private static final int MAX_LENGTH = 200;
  private static final int MAX_OFFSET = 9;
  private static final int SIZE = 216; // a multiple of 8, and room for both
  private static final int MARGIN = 16;
  private static final byte UNTOUCHED = (byte) 0xee;

  private final MemorySegment target = Arena.ofAuto().allocate(SIZE + 2 * MARGIN, Long.BYTES);

  /** Returns segments of every kind; the confined one belongs to the thread that runs the tests. */
  private static Stream<Named<MemorySegment>> sources() {
    return Stream.of(
        Named.of("byte[]", MemorySegment.ofArray(new byte[SIZE])),
        Named.of("short[]", MemorySegment.ofArray(new short[SIZE / Short.BYTES])),
        Named.of("char[]", MemorySegment.ofArray(new char[SIZE / Character.BYTES])),
        Named.of("int[]", MemorySegment.ofArray(new int[SIZE / Integer.BYTES])),
        Named.of("float[]", MemorySegment.ofArray(new float[SIZE / Float.BYTES])),
        Named.of("long[]", MemorySegment.ofArray(new long[SIZE / Long.BYTES])),
        Named.of("double[]", MemorySegment.ofArray(new double[SIZE / Double.BYTES])),
        Named.of("heap buffer", MemorySegment.ofBuffer(ByteBuffer.allocate(SIZE))),
        Named.of("direct buffer", MemorySegment.ofBuffer(ByteBuffer.allocateDirect(SIZE))),
        Named.of("confined", Arena.ofConfined().allocate(SIZE)),
        Named.of("shared", Arena.ofShared().allocate(SIZE)),
        Named.of("auto", Arena.ofAuto().allocate(SIZE)),
        Named.of("global", Arena.global().allocate(SIZE)),
        Named.of("slice", Arena.ofAuto().allocate(SIZE + 3).asSlice(3)));
  }

  @ParameterizedTest
  @MethodSource("sources")
  void shouldCopyEveryLengthFromEveryOffset(MemorySegment source) {
    for (int i = 0; i < SIZE; i++) {
      source.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + 1));
    }
    for (MemorySegment readable : new MemorySegment[] {source, source.asReadOnly()}) {
      for (int offset = 0; offset <= MAX_OFFSET; offset++) {
        for (int length = 0; length <= MAX_LENGTH; length++) {
          target.fill(UNTOUCHED);

          RawMemory.copy(readable, offset, target.address() + MARGIN, length);

          assertThat(target.asSlice(MARGIN, length).mismatch(source.asSlice(offset, length)))
              .isEqualTo(-1);
          assertThat(target.get(ValueLayout.JAVA_BYTE, MARGIN - 1)).isEqualTo(UNTOUCHED);
          assertThat(target.get(ValueLayout.JAVA_BYTE, MARGIN + length)).isEqualTo(UNTOUCHED);
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("sources")
  void shouldRefuseToReadOutsideTheSource(MemorySegment source) {
    for (int length = 1; length <= MAX_LENGTH; length++) {
      int size = length;
      for (long offset : new long[] {-1, SIZE - size + 1, SIZE, Long.MAX_VALUE, Long.MIN_VALUE}) {
        assertThatThrownBy(() -> copy(source, offset, size))
            .as("%d bytes from %d", size, offset)
            .isInstanceOf(IndexOutOfBoundsException.class);
      }
    }
  }

  @Test
  void shouldRefuseMemoryThatWasFreed() {
    for (Arena arena : new Arena[] {Arena.ofConfined(), Arena.ofShared()}) {
      MemorySegment source = arena.allocate(SIZE);
      arena.close();
      for (int length = 1; length <= MAX_LENGTH; length++) {
        int size = length;
        assertThatThrownBy(() -> copy(source, 0, size)).isInstanceOf(IllegalStateException.class);
      }
    }
  }

  @Test
  void shouldRefuseMemoryOfAnotherThread() {
    CompletableFuture<MemorySegment> other = new CompletableFuture<>();
    Thread.ofPlatform().start(() -> other.complete(Arena.ofConfined().allocate(SIZE)));
    MemorySegment source = other.join();
    for (int length = 1; length <= MAX_LENGTH; length++) {
      int size = length;
      assertThatThrownBy(() -> copy(source, 0, size)).isInstanceOf(WrongThreadException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 8, 72, 2_047, 2_048, 2_049, 10_000})
  void shouldClearAllBytesAndNoMore(long length) {
    MemorySegment memory = Arena.ofAuto().allocate(length + 2 * MARGIN);
    memory.fill(UNTOUCHED);

    RawMemory.clear(memory.address() + MARGIN, length);

    for (long at = 0; at < memory.byteSize(); at++) {
      boolean isCleared = at >= MARGIN && at < MARGIN + length;
      assertThat(memory.get(ValueLayout.JAVA_BYTE, at)).isEqualTo(isCleared ? 0 : UNTOUCHED);
    }
  }

  private void copy(MemorySegment source, long offset, int length) {
    RawMemory.copy(source, offset, target.address() + MARGIN, length);
  }
}
