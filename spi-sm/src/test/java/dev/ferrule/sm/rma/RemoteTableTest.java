// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static dev.ferrule.posix.RawMemory.ALL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.RmaRight;
import dev.ferrule.posix.Credentials;
import dev.ferrule.support.RmaKey;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A possibly hostile peer's entries of the memory that it has allocated and exposed. */
class RemoteTableTest {

  private static final long SIZE = 16 * RmaLayout.PAGE;
  private static final long GENERATION = 17;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment allocatable = arena.allocate(SIZE, RmaLayout.PAGE);
  private final RmaArea peer =
      new RmaArea(
          arena.allocate(RmaLayout.SIZE, RmaLayout.LINE).address(),
          0,
          0,
          allocatable,
          Credentials.own());
  private final RemoteTable table = new RemoteTable(RmaAreas.allocate(arena, 64), peer);

  @AfterEach
  void close() {
    arena.close();
  }

  private RmaKey expose(long place, long length) {
    Set<RmaRight> rights = Set.of(RmaRight.READ);
    long entry = peer.address() + RmaLayout.region(3);
    ALL.set(ValueLayout.JAVA_LONG, entry + RmaLayout.REGION_LENGTH, length);
    ALL.set(ValueLayout.JAVA_INT, entry + RmaLayout.REGION_RIGHTS, RmaKey.bits(rights));
    ALL.set(ValueLayout.JAVA_LONG, entry + RmaLayout.REGION_PLACE, place + 1);
    ALL.set(ValueLayout.JAVA_LONG, entry + RmaLayout.REGION_GENERATION, GENERATION);
    return new RmaKey(3, GENERATION, length, rights, 0);
  }

  @Test
  void allocatedMemoryIsMappedWhereThePeerSays() {
    allocatable.fill((byte) 1).set(ValueLayout.JAVA_BYTE, RmaLayout.PAGE, (byte) 5);
    RemoteRegion region = table.find(expose(RmaLayout.PAGE, 100));
    assertThat(region).isNotNull();
    assertThat(region.view()).isPresent();
    MemorySegment view = region.view().orElseThrow();
    assertThat(view.byteSize()).isEqualTo(100);
    assertThat(view.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 5);
    assertThat(view.isReadOnly()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "65536, 1",
    "65535, 2",
    "0, 65537",
    "1, 9223372036854775807",
    "9223372036854775806, 1",
    "-2, 10",
    "-9223372036854775808, 10",
    "0, -1"
  })
  void aRangeOutsideThePeersMemoryIsNotMapped(long place, long length) {
    RemoteRegion region = table.find(expose(place, length));
    assertThat(region == null || region.view().isEmpty()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 1, 4095, 65_537, 69_632, Long.MAX_VALUE, Long.MIN_VALUE})
  void anInvalidSizeOfAllocatableMemoryIsRejected(long size) {
    ALL.set(ValueLayout.JAVA_LONG, peer.address() + RmaLayout.DESCRIPTOR_ALLOCATABLE, size);
    assertThat(RmaArea.allocatableSize(peer.address(), SIZE)).isNegative();
  }
}
