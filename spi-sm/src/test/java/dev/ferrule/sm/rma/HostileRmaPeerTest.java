// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.RmaRight;
import dev.ferrule.sm.ring.CorruptRingException;
import dev.ferrule.support.RmaKey;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer that writes arbitrary bytes to the memory that both have mapped. */
class HostileRmaPeerTest {

  private static final int SIZE = 4096;
  private static final int LINES = 64;
  private static final byte UNTOUCHED = 0x5a;

  @TempDir private Path folder;

  private final Arena arena = Arena.ofShared();
  private RmaArea own;
  private RmaArea peer;
  private MemorySegment peersArea;
  private MemorySegment buffer; // the peer's
  private MemorySegment memory;
  private RegionTable regions;
  private ExposedRegion region;
  private FragmentServer server;

  @BeforeEach
  void expose() {
    own = RmaAreas.allocate(arena, LINES * RmaLayout.LINE);
    peer = RmaAreas.allocate(arena, LINES * RmaLayout.LINE);
    peersArea = MemorySegment.ofAddress(peer.address()).reinterpret(RmaLayout.SIZE);
    buffer = MemorySegment.ofAddress(peer.bufferAddress()).reinterpret(peer.bufferSize());
    set(RmaLayout.BUFFER_LINES, LINES);
    memory = arena.allocate(SIZE).fill(UNTOUCHED);
    regions = new RegionTable(own, peer, null);
    region = regions.add(memory, EnumSet.of(RmaRight.WRITE));
    server = new FragmentServer(own, peer, regions, () -> {});
  }

  @AfterEach
  void close() {
    arena.close();
  }

  private void set(long offset, int value) {
    peersArea.set(ValueLayout.JAVA_INT, offset, value);
  }

  private void set(long offset, long value) {
    peersArea.set(ValueLayout.JAVA_LONG, offset, value);
  }

  /** Submits one fragment at line 0. */
  private int submit(int operation, int id, int length, long generation, long offset) {
    buffer.set(ValueLayout.JAVA_INT, RmaLayout.FRAGMENT_OPERATION, operation);
    buffer.set(ValueLayout.JAVA_INT, RmaLayout.FRAGMENT_STATUS, RmaLayout.PENDING);
    buffer.set(ValueLayout.JAVA_INT, RmaLayout.FRAGMENT_REGION, id);
    buffer.set(ValueLayout.JAVA_INT, RmaLayout.FRAGMENT_LENGTH, length);
    buffer.set(ValueLayout.JAVA_LONG, RmaLayout.FRAGMENT_GENERATION, generation);
    buffer.set(ValueLayout.JAVA_LONG, RmaLayout.FRAGMENT_OFFSET, offset);
    long number = peersArea.get(ValueLayout.JAVA_LONG, RmaLayout.SUBMITTED);
    set(RmaLayout.submission(number), 0);
    set(RmaLayout.SUBMITTED, number + 1);
    server.serve();
    return buffer.get(ValueLayout.JAVA_INT, RmaLayout.FRAGMENT_STATUS);
  }

  private void assertUntouched() {
    assertThat(memory.mismatch(arena.allocate(SIZE).fill(UNTOUCHED))).isEqualTo(-1);
  }

  private RmaKey key() {
    return region.key();
  }

  @Test
  void aValidFragmentIsHandled() {
    assertThat(submit(RmaLayout.WRITE, key().id(), 100, key().generation(), SIZE - 100))
        .isEqualTo(RmaLayout.DONE);
    assertThat(memory.get(ValueLayout.JAVA_BYTE, SIZE - 1)).isZero();
    assertThat(memory.get(ValueLayout.JAVA_BYTE, SIZE - 101)).isEqualTo(UNTOUCHED);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 1, 255, 256, Integer.MIN_VALUE, Integer.MAX_VALUE})
  void aMissingRegionIsRefused(int id) {
    assertThat(submit(RmaLayout.WRITE, id, 8, key().generation(), 0))
        .isEqualTo(RmaLayout.NO_REGION);
    assertUntouched();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, -1})
  void anotherGenerationIsRefused(long generation) {
    assertThat(submit(RmaLayout.WRITE, key().id(), 8, generation, 0))
        .isEqualTo(RmaLayout.NO_REGION);
    assertUntouched();
  }

  @ParameterizedTest
  @CsvSource({
    "1, 4096",
    "0, 4097",
    "100, 3997",
    "1, -1",
    "8, 9223372036854775807",
    "8, -9223372036854775808"
  })
  void anAccessOutsideTheRegionIsRefused(int length, long offset) {
    assertThat(submit(RmaLayout.WRITE, key().id(), length, key().generation(), offset))
        .isEqualTo(RmaLayout.DENIED);
    assertUntouched();
  }

  @Test
  void anAccessWithoutTheRightIsRefused() {
    assertThat(submit(RmaLayout.READ, key().id(), 8, key().generation(), 0))
        .isEqualTo(RmaLayout.DENIED);
    assertThat(buffer.get(ValueLayout.JAVA_BYTE, RmaLayout.LINE)).isZero();
  }

  @Test
  void aRegionThatWasTakenBackIsRefused() {
    assertThat(regions.end(region)).isTrue();
    assertThat(submit(RmaLayout.WRITE, key().id(), 8, key().generation(), 0))
        .isEqualTo(RmaLayout.NO_REGION);
    regions.free(region);
    assertThat(submit(RmaLayout.WRITE, key().id(), 8, key().generation(), 0))
        .isEqualTo(RmaLayout.NO_REGION);
    assertUntouched();
  }

  @Test
  void memoryThatTheProgramHasFreedIsRefused() {
    Arena other = Arena.ofShared();
    ExposedRegion freed = regions.add(other.allocate(64), EnumSet.of(RmaRight.WRITE));
    ExposedRegion words = regions.add(other.allocate(64, 8), EnumSet.of(RmaRight.ATOMIC));
    other.close();
    assertThat(submit(RmaLayout.WRITE, freed.key().id(), 8, freed.key().generation(), 0))
        .isEqualTo(RmaLayout.FAULT);
    assertThat(submitAtomic(RmaLayout.FETCH_AND_ADD, words, 16, 0)).isEqualTo(RmaLayout.FAULT);
  }

  private int submitAtomic(int operation, ExposedRegion to, int length, long offset) {
    buffer.set(ValueLayout.JAVA_LONG, RmaLayout.LINE + RmaLayout.ATOMIC_OPERAND, 5);
    buffer.set(ValueLayout.JAVA_LONG, RmaLayout.LINE + RmaLayout.ATOMIC_DESIRED, 9);
    return submit(operation, to.key().id(), length, to.key().generation(), offset);
  }

  private long result() {
    return buffer.get(ValueLayout.JAVA_LONG, RmaLayout.LINE + RmaLayout.ATOMIC_RESULT);
  }

  @Test
  void aValidAtomicOperationIsPerformed() {
    MemorySegment words = arena.allocate(SIZE, 64);
    ExposedRegion atomic = regions.add(words, EnumSet.of(RmaRight.ATOMIC));
    words.set(ValueLayout.JAVA_LONG, SIZE - 8, 4);

    assertThat(submitAtomic(RmaLayout.COMPARE_AND_SWAP, atomic, 16, SIZE - 8))
        .isEqualTo(RmaLayout.DONE);
    assertThat(result()).isEqualTo(4);
    assertThat(words.get(ValueLayout.JAVA_LONG, SIZE - 8)).isEqualTo(4);
    assertThat(submitAtomic(RmaLayout.FETCH_AND_ADD, atomic, 16, SIZE - 8))
        .isEqualTo(RmaLayout.DONE);
    assertThat(result()).isEqualTo(4);
    assertThat(words.get(ValueLayout.JAVA_LONG, SIZE - 8)).isEqualTo(9);
    words.set(ValueLayout.JAVA_LONG, SIZE - 8, 5);
    assertThat(submitAtomic(RmaLayout.COMPARE_AND_SWAP, atomic, 16, SIZE - 8))
        .isEqualTo(RmaLayout.DONE);
    assertThat(result()).isEqualTo(5);
    assertThat(words.get(ValueLayout.JAVA_LONG, SIZE - 8)).isEqualTo(9);
  }

  @ParameterizedTest
  @ValueSource(longs = {-8, 1, 4, SIZE - 7, SIZE - 4, SIZE, Long.MAX_VALUE, Long.MIN_VALUE})
  void aWordThatIsNotWithinTheRegionOrNotAlignedIsRefused(long offset) {
    MemorySegment words = arena.allocate(SIZE, 64).fill(UNTOUCHED);
    ExposedRegion atomic = regions.add(words, EnumSet.of(RmaRight.ATOMIC));
    ExposedRegion shifted = regions.add(words.asSlice(4), EnumSet.of(RmaRight.ATOMIC));
    for (int operation : new int[] {RmaLayout.FETCH_AND_ADD, RmaLayout.COMPARE_AND_SWAP}) {
      assertThat(submitAtomic(operation, atomic, 16, offset)).isEqualTo(RmaLayout.DENIED);
      assertThat(submitAtomic(operation, shifted, 16, 8)).isEqualTo(RmaLayout.DENIED);
    }
    assertThat(words.mismatch(arena.allocate(SIZE).fill(UNTOUCHED))).isEqualTo(-1);
  }

  @Test
  void anAtomicOperationWithoutTheRightIsRefused() {
    ExposedRegion other = regions.add(memory, EnumSet.of(RmaRight.READ, RmaRight.WRITE));
    for (int operation : new int[] {RmaLayout.FETCH_AND_ADD, RmaLayout.COMPARE_AND_SWAP}) {
      assertThat(submitAtomic(operation, other, 16, 0)).isEqualTo(RmaLayout.DENIED);
    }
    ExposedRegion atomic = regions.add(memory, EnumSet.of(RmaRight.ATOMIC));
    for (int operation : new int[] {RmaLayout.READ, RmaLayout.WRITE}) {
      assertThat(submitAtomic(operation, atomic, 16, 0)).isEqualTo(RmaLayout.DENIED);
    }
    assertUntouched();
  }

  @Test
  void anAtomicOperationOnARegionThatWasTakenBackIsRefused() {
    ExposedRegion atomic = regions.add(memory, EnumSet.of(RmaRight.ATOMIC));
    assertThat(regions.end(atomic)).isTrue();
    assertThat(submitAtomic(RmaLayout.FETCH_AND_ADD, atomic, 16, 0)).isEqualTo(RmaLayout.NO_REGION);
    regions.free(atomic);
    assertThat(submitAtomic(RmaLayout.FETCH_AND_ADD, atomic, 16, 0)).isEqualTo(RmaLayout.NO_REGION);
    assertUntouched();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 8, 15, 17, 24, -1, Integer.MAX_VALUE})
  void anAtomicOperationWithOtherOperandsIsAViolation(int length) {
    ExposedRegion atomic = regions.add(memory, EnumSet.of(RmaRight.ATOMIC));
    assertThatThrownBy(() -> submitAtomic(RmaLayout.FETCH_AND_ADD, atomic, length, 0))
        .isInstanceOf(CorruptRingException.class);
    assertUntouched();
  }

  @Test
  void operandsOutsideOfTheBufferAreAViolation() {
    set(RmaLayout.submission(0), LINES - 1);
    long header = (LINES - 1L) * RmaLayout.LINE;
    buffer.set(ValueLayout.JAVA_INT, header, RmaLayout.COMPARE_AND_SWAP);
    buffer.set(ValueLayout.JAVA_INT, header + RmaLayout.FRAGMENT_LENGTH, RmaLayout.ATOMIC_PAYLOAD);
    set(RmaLayout.SUBMITTED, 1L);
    assertThatThrownBy(() -> server.serve()).isInstanceOf(CorruptRingException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 5, -1, 256})
  void anUnknownOperationIsAViolation(int operation) {
    assertThatThrownBy(() -> submit(operation, key().id(), 8, key().generation(), 0))
        .isInstanceOf(CorruptRingException.class);
    assertUntouched();
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, (LINES - 1) * RmaLayout.LINE + 1, Integer.MAX_VALUE, Integer.MIN_VALUE})
  void aFragmentThatIsLongerThanItsBufferIsAViolation(int length) {
    assertThatThrownBy(() -> submit(RmaLayout.WRITE, key().id(), length, key().generation(), 0))
        .isInstanceOf(CorruptRingException.class);
    assertUntouched();
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, LINES, Integer.MAX_VALUE, Integer.MIN_VALUE})
  void aFragmentOutsideOfItsBufferIsAViolation(int line) {
    set(RmaLayout.submission(0), line);
    set(RmaLayout.SUBMITTED, 1L);
    assertThatThrownBy(() -> server.serve()).isInstanceOf(CorruptRingException.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, RmaLayout.FRAGMENTS + 1, Long.MAX_VALUE, Long.MIN_VALUE})
  void moreFragmentsThanTheMaximumAreAViolation(long submitted) {
    set(RmaLayout.SUBMITTED, submitted);
    assertThatThrownBy(() -> server.serve()).isInstanceOf(CorruptRingException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, -1, LINES + 1_000_000, Integer.MAX_VALUE})
  void aBufferThatIsNotAsLargeAsThePeerSaysIsAViolation(int lines) {
    set(RmaLayout.BUFFER_LINES, lines);
    set(RmaLayout.SUBMITTED, 1L);
    assertThatThrownBy(() -> server.serve()).isInstanceOf(CorruptRingException.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 1, 2, Long.MAX_VALUE, Long.MIN_VALUE})
  void aTargetThatHasHandledMoreThanWasSubmittedIsAViolation(long handled) {
    Fragments fragments = new Fragments(own, peer, () -> {});
    set(RmaLayout.HANDLED, handled);
    assertThatThrownBy(() -> fragments.reap((id, status, isLast) -> {}))
        .isInstanceOf(CorruptRingException.class);
  }

  @Test
  void aFileThatTheProgramItselfHasTruncatedIsNoViolationOfThePeers() throws IOException {
    try (FileChannel file = emptyFile("exposed")) {
      ExposedRegion mapped = regions.add(map(file), EnumSet.allOf(RmaRight.class));
      file.truncate(0);
      for (int operation : new int[] {RmaLayout.READ, RmaLayout.WRITE}) {
        assertThat(submit(operation, mapped.key().id(), 1000, mapped.key().generation(), 0))
            .isEqualTo(RmaLayout.FAULT);
      }
      for (int operation : new int[] {RmaLayout.FETCH_AND_ADD, RmaLayout.COMPARE_AND_SWAP}) {
        assertThat(submitAtomic(operation, mapped, 16, 8)).isEqualTo(RmaLayout.FAULT);
      }
    }
    assertThat(submit(RmaLayout.WRITE, key().id(), 100, key().generation(), 0))
        .isEqualTo(RmaLayout.DONE);
  }

  private FileChannel emptyFile(String name) throws IOException {
    return FileChannel.open(
        folder.resolve(name),
        StandardOpenOption.CREATE_NEW,
        StandardOpenOption.READ,
        StandardOpenOption.WRITE);
  }

  private MemorySegment map(FileChannel file) throws IOException {
    return file.map(FileChannel.MapMode.READ_WRITE, 0, SIZE, arena);
  }
}
