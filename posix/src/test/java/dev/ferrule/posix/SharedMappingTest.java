// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.libc.LibC;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The data plane accesses memory by its address, without a check for each access. A thread may be
 * accessing it while another one closes the connection, or while the peer truncates the file.
 */
class SharedMappingTest {

  /** Number of rounds; a million of them are a soak. */
  private static final int ROUNDS = Integer.getInteger("ferrule.soak.retirements", 20_000);

  private static final int SIZE = 64 << 10;
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private volatile SharedMapping current = map();
  private volatile boolean done;

  private static SharedMapping map() {
    try (SealedFile file = SealedFile.create(SIZE, SIZE)) {
      return file.map(SIZE);
    }
  }

  @Test
  void accessesByAddressGoOnWhileTheMemoryIsRetired() {
    CompletableFuture<Long> accesses = CompletableFuture.supplyAsync(this::access);
    for (int i = 0; i < ROUNDS; i++) {
      SharedMapping before = current;
      current = map();
      before.retire();
    }
    done = true;
    assertThat(accesses.join()).isGreaterThan(ROUNDS);
  }

  @Test
  void thePeerCannotTruncateTheFileUnderAnAccess() throws Exception {
    try (SealedFile file = SealedFile.create(SIZE, SIZE)) {
      current = file.map(SIZE);
      CompletableFuture<Long> accesses = CompletableFuture.supplyAsync(this::access);
      for (int i = 0; i < ROUNDS; i++) {
        assertThat(LibC.ftruncate(file.fd(), 0)).isEqualTo(-1);
      }
      done = true;
      assertThat(accesses.join()).isPositive();
    }
  }

  /** A program may keep a segment of a message after the connection was closed. */
  @Test
  void aSliceOfTheViewKeepsTheMemoryMappedAndReadsZerosOnceItIsRetired() {
    AddressSpace space = new AddressSpace(() -> {}, System::nanoTime);
    MemorySegment slice = mapRetireAndSlice(space);
    for (int i = 0; i < 5; i++) {
      System.gc();
      assertThat(slice.get(ValueLayout.JAVA_LONG, 0)).isZero();
      slice.set(ValueLayout.JAVA_LONG, 8, 42);
    }
    assertThat(space.mapped()).isEqualTo(SIZE);
    Reference.reachabilityFence(slice);
    slice = MemorySegment.NULL;
    while (space.mapped() != 0) {
      System.gc();
    }
  }

  private static MemorySegment mapRetireAndSlice(AddressSpace space) {
    try (SealedFile file = SealedFile.create(SIZE, SIZE)) {
      SharedMapping mapping = SharedMapping.of(space, file.fd(), SIZE, SIZE, Long.MAX_VALUE);
      MemorySegment slice = mapping.view().asSlice(64, 64).asReadOnly();
      mapping.view().set(ValueLayout.JAVA_LONG, 64, 42);
      assertThat(slice.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
      assertThat(mapping.retire()).isTrue();
      return mapping.view().asSlice(64, 64);
    }
  }

  @Test
  void aMappingCountsUntilItIsRemovedAndWaitsForThatFromItsRetirementOn() {
    AddressSpace space = new AddressSpace(() -> {}, System::nanoTime);
    mapAndRetire(space);
    while (space.mapped() != 0 || space.waiting() != 0) {
      System.gc();
    }
  }

  private static void mapAndRetire(AddressSpace space) {
    try (SealedFile file = SealedFile.create(SIZE, SIZE)) {
      SharedMapping whole = SharedMapping.of(space, file.fd(), SIZE, SIZE, Long.MAX_VALUE);
      SharedMapping part = whole.duplicate(0, SIZE / 2);
      assertThat(space.mapped()).isEqualTo(SIZE + SIZE / 2);
      assertThat(space.waiting()).isZero();
      whole.retire();
      whole.retire();
      assertThat(space.waiting()).isEqualTo(SIZE);
      part.retire();
      assertThat(space.waiting()).isEqualTo(SIZE + SIZE / 2);
      Reference.reachabilityFence(whole);
      Reference.reachabilityFence(part);
    }
  }

  /** Such as multiples of 4096 bytes, on a machine whose pages are larger. */
  @ParameterizedTest
  @CsvSource({"0, 16", "1, 1", "1, 3", "0, 3", "4, 5", "3, 9", "2, 14", "3, 2", "5, 0"})
  void aPartIsSetToZeroAlsoWhereItIsLessThanAPage(int start, int length) {
    int quarter = (int) Posix.PAGE / 4;
    try (SealedFile file = SealedFile.create(16L * quarter, 16L * quarter)) {
      SharedMapping mapping = file.map(16L * quarter);
      mapping.view().fill((byte) 1);
      long allocated = Posix.fstat(file.fd()).allocated();
      assertThat(mapping.discard((long) start * quarter, (long) length * quarter)).isTrue();
      int wholePages = Math.max(0, (start + length) / 4 - (start + 3) / 4);
      assertThat(Posix.fstat(file.fd()).allocated()).isEqualTo(allocated - wholePages * Posix.PAGE);
      for (int i = 0; i < 16; i++) {
        byte expected = (byte) (i >= start && i < start + length ? 0 : 1);
        assertThat(mapping.view().asSlice((long) i * quarter, quarter).toArray(JAVA_BYTE))
            .as("quarter %d", i)
            .containsOnly(expected);
      }
    }
  }

  @Test
  void theEndOfAFileThatEndsWithinAPageCanBeAllocated() {
    long size = Posix.PAGE + Posix.PAGE / 4;
    try (SealedFile file = SealedFile.create(size, Posix.PAGE)) {
      SharedMapping mapping = file.map(Posix.PAGE);
      assertThat(mapping.populate(Posix.PAGE, Posix.PAGE / 4)).isZero();
      assertThat(Posix.fstat(file.fd()).allocated()).isEqualTo(2 * Posix.PAGE);
    }
  }

  /** Writes and reads as a sender and a receiver do; returns the number of accesses. */
  private long access() {
    long result = 0;
    while (!done) {
      SharedMapping mapping = current;
      for (long offset = 0; offset < SIZE; offset += 64) {
        LONG.setRelease(RawMemory.ALL, mapping.address() + offset, result);
        long ignored =
            (long) LONG.getAcquire(RawMemory.ALL, mapping.address() + SIZE - 64 - offset);
        result++;
      }
      Reference.reachabilityFence(mapping);
    }
    return result;
  }
}
