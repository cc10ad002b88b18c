// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.SealedFile;
import dev.ferrule.posix.SharedMapping;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AllocatableMemoryTest {

  private static final long PAGE = RmaLayout.PAGE;
  private static final long SIZE = 64 * PAGE;

  private record Piece(long place, long size) {}

  private SealedFile file;
  private SharedMapping mapping;
  private AllocatableMemory memory;

  @BeforeEach
  void map() {
    file = SealedFile.create(PAGE + SIZE, PAGE);
    mapping = file.map(PAGE);
    memory = new AllocatableMemory(mapping, PAGE, mapping.view().asSlice(PAGE));
  }

  @AfterEach
  void close() {
    file.close();
  }

  @Test
  void piecesAreZeroedAndNeverOverlapAndAllRoomIsReclaimed() {
    Random random = new Random(3);
    List<Piece> pieces = new ArrayList<>();
    for (int step = 0; step < 3_000; step++) {
      if (random.nextBoolean()) {
        long size = 1 + random.nextLong(10 * PAGE);
        long place = memory.allocate(size);
        if (place != AllocatableMemory.NONE) {
          assertThat(place % PAGE).isZero();
          assertThat(isFilledWith(place, size, 0)).as("zeroed").isTrue();
          memory.segment(place, size).fill((byte) (place / PAGE + 1));
          pieces.add(new Piece(place, size));
        }
      } else if (!pieces.isEmpty()) {
        free(pieces.remove(random.nextInt(pieces.size())));
      }
    }
    pieces.forEach(this::free);
    assertThat(memory.allocate(SIZE)).isZero();
    assertThat(memory.allocate(1)).isEqualTo(AllocatableMemory.NONE);
  }

  private void free(Piece piece) {
    assertThat(isFilledWith(piece.place, piece.size, (byte) (piece.place / PAGE + 1))).isTrue();
    memory.free(piece.place, piece.size);
  }

  private boolean isFilledWith(long place, long size, int value) {
    for (long at = 0; at < size; at++) {
      if (memory.segment(place, size).get(ValueLayout.JAVA_BYTE, at) != value) {
        return false;
      }
    }
    return true;
  }

  @Test
  void moreThanTheSizeIsNotAllocated() {
    assertThat(memory.allocate(SIZE + 1)).isEqualTo(AllocatableMemory.NONE);
    assertThat(memory.allocate(Long.MAX_VALUE)).isEqualTo(AllocatableMemory.NONE);
  }

  @Test
  void nothingIsAllocatedWithoutAllocatableMemory() {
    AllocatableMemory none =
        new AllocatableMemory(mapping, PAGE + SIZE, mapping.view().asSlice(PAGE + SIZE));
    assertThat(none.allocate(1)).isEqualTo(AllocatableMemory.NONE);
  }
}
