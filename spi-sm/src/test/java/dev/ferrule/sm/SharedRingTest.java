// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.posix.Credentials;
import dev.ferrule.posix.PosixException;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.posix.SharedMapping;
import dev.ferrule.sm.endpoint.PassedMemory;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.rma.RmaLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a peer passes is mapped at a cost that does not grow with its size, or refused. */
class SharedRingTest {

  private static final int LINES = (64 << 20) / RingLayout.LINE;
  private static final RingLayout LAYOUT = new RingLayout(12, LINES, 1 << 20);
  private static final long HUGE_PAGE = 2 << 20; // the system may map one at the end
  private static final SharedRing.OnDemand NO_RMA = new SharedRing.OnDemand(0, 0, 0);

  private static SharedRing attach(SealedFile file) {
    return SharedRing.attach(
            new PassedMemory(file, Credentials.own()), descriptor -> true, SealedFile.Limits.NONE)
        .orElseThrow();
  }

  private static SharedRing create(SealedFile file) {
    return SharedRing.create(file, LAYOUT, NO_RMA, false, 0, null, SealedFile.Limits.NONE);
  }

  @Test
  void onlyTheStartOfAPeersMemoryIsMappedWithItsPages() throws IOException {
    try (SealedFile file = SharedRing.createFile(LAYOUT, NO_RMA)) {
      SharedRing peers = create(file);
      SharedRing attached = attach(file);

      assertThat(residentBytes(peers.ring())).isGreaterThanOrEqualTo(64 << 20);
      assertThat(residentBytes(attached.ring()))
          .isBetween(LAYOUT.ringSize(), SharedRing.MAX_POPULATED + HUGE_PAGE);

      MemorySegment lines = attached.buffer();
      peers.buffer().set(ValueLayout.JAVA_BYTE, lines.byteSize() - 1, (byte) 7);
      assertThat(lines.get(ValueLayout.JAVA_BYTE, lines.byteSize() - 1)).isEqualTo((byte) 7);
      Reference.reachabilityFence(attached);
      Reference.reachabilityFence(peers);
    }
  }

  /** Returns how much of a mapping has pages, in bytes. */
  private static long residentBytes(MemorySegment start) throws IOException {
    List<String> lines = Files.readAllLines(Path.of("/proc/self/smaps"));
    String address = Long.toHexString(start.address());
    int mapping = 0;
    while (!lines.get(mapping).matches("0*" + address + "-.*")) {
      mapping++;
    }
    return lines.stream()
            .skip(mapping)
            .filter(line -> line.startsWith("Rss:"))
            .map(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
            .findFirst()
            .orElseThrow()
        << 10;
  }

  @Test
  void anInvalidAreaForRemoteMemoryAccessIsNamed() {
    long size = SharedRing.allocatedSize(LAYOUT);
    try (SealedFile file = SealedFile.create(size, size)) {
      SharedMapping mapping = file.map(RingLayout.DESCRIPTOR_SIZE);
      LAYOUT.writeDescriptor(mapping.view(), 0, 1, 0, 0);

      assertThatThrownBy(() -> attach(file))
          .isInstanceOf(PosixException.class)
          .hasMessageContaining(
              "area for remote memory access, at offset " + LAYOUT.ringSize() + ", is not valid")
          .hasMessageContaining("magic number");
      long allocatable = LAYOUT.ringSize() + RmaLayout.DESCRIPTOR_ALLOCATABLE;
      mapping.view().set(ValueLayout.JAVA_LONG, allocatable, 1);
      assertThatThrownBy(() -> attach(file))
          .isInstanceOf(PosixException.class)
          .hasMessageContaining("the size of its allocatable memory");
      Reference.reachabilityFence(mapping);
    }
  }

  @Test
  void anInvalidDescriptorIsNamed() {
    long size = SharedRing.allocatedSize(LAYOUT);
    try (SealedFile file = SealedFile.create(size, size)) {
      SharedMapping mapping = file.map(RingLayout.DESCRIPTOR_SIZE);

      assertThatThrownBy(() -> attach(file))
          .isInstanceOf(PosixException.class)
          .hasMessageContaining("does not start with a ring of version");
      LAYOUT.writeDescriptor(mapping.view(), 0, 1, 0, 0);
      mapping.view().set(ValueLayout.JAVA_INT, RingLayout.DESCRIPTOR_MAX_MESSAGE, -1);
      assertThatThrownBy(() -> attach(file))
          .isInstanceOf(PosixException.class)
          .hasMessageContaining("starts with a ring of invalid sizes");
      Reference.reachabilityFence(mapping);
    }
  }
}
