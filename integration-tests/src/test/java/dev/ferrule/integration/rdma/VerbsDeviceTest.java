// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.Posix;
import dev.ferrule.rdma.context.RdmaAvailability;
import dev.ferrule.verbs.AccessFlags;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.DeviceAttributes;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.PortAttributes;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.VerbsContext;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.VerbsLibrary;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The verbs layer on a device: the device itself, memory and completion queues. */
@RdmaTest
class VerbsDeviceTest {

  private static final int SIZE = 256 * 1024;

  private final VerbsLibrary library = VerbsLibrary.system();
  private VerbsContext context;

  @BeforeEach
  void open() {
    context = library.open(RdmaDevice.name());
  }

  @AfterEach
  void close() {
    context.close();
  }

  @Test
  void theDeviceIsListedAndHasItsName() {
    assertThat(RdmaAvailability.here().available()).isTrue();
    assertThat(library.deviceNames()).contains(RdmaDevice.name()).doesNotHaveDuplicates();
    assertThat(context.deviceName()).isEqualTo(RdmaDevice.name());
  }

  @Test
  void noLimitOfTheDeviceIsNegative() {
    DeviceAttributes attributes = context.attributes();
    assertThat(attributes.ports()).isPositive();
    assertThat(attributes.maxMemoryRegionSize()).isPositive();
    assertThat(attributes.maxQueuePairs()).isPositive();
    assertThat(attributes.maxWorkRequests()).isPositive();
    assertThat(attributes.maxScatterGatherEntries()).isPositive();
    assertThat(attributes.maxCompletionQueues()).isPositive();
    assertThat(attributes.maxCompletions()).isPositive();
    assertThat(attributes.maxMemoryRegions()).isPositive();
    assertThat(attributes.maxSharedReceiveQueues()).isPositive();
    assertThat(attributes.maxSharedReceives()).isPositive();
    assertThat(attributes.atomics()).isNotNull();
    assertThat(attributes.maxReadsAsTarget()).isPositive();
    assertThat(attributes.maxReadsAsInitiator()).isPositive();
  }

  @Test
  void thePortIsUpAndHasIdentifiers() {
    PortAttributes port = context.port(1);
    assertThat(port.active()).isTrue();
    assertThat(port.activeMtu()).isIn(256, 512, 1024, 2048, 4096);
    assertThat(port.maxMessageSize()).isBetween(1L << 20, 1L << 31);
    assertThat(port.gids()).isPositive();
    assertThat(context.gid(1, 0)).hasSize(16).isNotEqualTo(new byte[16]);
    if (RdmaDevice.name().startsWith("rxe")) {
      assertThat(port.ethernet()).isTrue();
    }
  }

  @Test
  void anUnknownDeviceIsNamedInTheException() {
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> library.open("nonsense7"))
        .withMessageStartingWith("ibv_open_device(nonsense7): No such device (errno 19); ")
        .satisfies(e -> {
          assertThat(e.function()).isEqualTo("ibv_open_device");
          assertThat(e.errno()).isEqualTo(Errno.ENODEV);
        });
  }

  @Test
  void anUnknownPortAndAnUnknownIdentifierAreNamedInTheException() {
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> context.port(200))
        .withMessageStartingWith("ibv_query_port(port 200): ");
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> context.gid(1, 1_000_000))
        .withMessageStartingWith("ibv_query_gid(port 1, index 1000000): ");
  }

  @Test
  void aDeviceWithNothingToReportHasNoEvent() {
    Loopback.doNotBlock(context.asyncDescriptor());
    assertThat(context.nextAsyncEvent()).isEmpty();
  }

  @Test
  void allocatedMemoryIsPinnedUntilTheRegionIsClosed() throws IOException {
    try (ProtectionDomain domain = context.allocateProtectionDomain()) {
      long before = pinnedBytes();
      MemoryRegion region = domain.allocate(SIZE, AccessFlags.LOCAL_WRITE);
      assertThat(region.segment().byteSize()).isEqualTo(SIZE);
      assertThat(region.segment().address() % Posix.PAGE).isZero();
      assertThat(pinnedBytes()).isEqualTo(before + SIZE);
      region.segment().set(ValueLayout.JAVA_BYTE, SIZE - 1, (byte) 1);

      region.close();
      region.close();
      assertThat(pinnedBytes()).isEqualTo(before);
      assertThat(region.segment().scope().isAlive()).isFalse();
    }
  }

  @Test
  void closingTheArenaEndsTheRegistration() throws IOException {
    try (ProtectionDomain domain = context.allocateProtectionDomain()) {
      long before = pinnedBytes();
      MemoryRegion region;
      try (Arena arena = Arena.ofShared()) {
        region = domain.register(arena, arena.allocate(SIZE, Posix.PAGE), AccessFlags.LOCAL_WRITE);
        assertThat(pinnedBytes()).isEqualTo(before + SIZE);
        assertThat(region.localKey()).isNotZero();
      }
      assertThat(pinnedBytes()).isEqualTo(before);
      region.close(); // has no effect now
    }
  }

  @Test
  void aRegionMayBeClosedBeforeItsArena() throws IOException {
    try (ProtectionDomain domain = context.allocateProtectionDomain()) {
      long before = pinnedBytes();
      try (Arena arena = Arena.ofShared()) {
        MemorySegment memory = arena.allocate(SIZE, Posix.PAGE);
        domain.register(arena, memory, AccessFlags.LOCAL_WRITE).close();
        assertThat(pinnedBytes()).isEqualTo(before);
        memory.fill((byte) 1); // still owned by the program
      }
    }
  }

  @Test
  void aDomainInUseCannotBeClosed() {
    ProtectionDomain domain = context.allocateProtectionDomain();
    MemoryRegion region = domain.allocate(SIZE, AccessFlags.LOCAL_WRITE);
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(domain::close)
        .withMessageStartingWith("ibv_dealloc_pd: Device or resource busy (errno 16)");
    region.close();
    domain.close();
  }

  @Test
  void aQueueThatIsTooLongIsNamedInTheException() {
    int tooMany = context.attributes().maxCompletions() + 1;
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> context.createCompletionQueue(tooMany, null, 0))
        .withMessageStartingWith("ibv_create_cq(" + tooMany + " entries): ");
  }

  @Test
  void aNewCompletionQueueIsEmpty() {
    try (CompletionQueue queue = context.createCompletionQueue(64, null, 0)) {
      assertThat(queue.poll(CompletionQueue.BATCH)).isZero();
      assertThat(queue.requestNotification()).isZero();
    }
  }

  /** Returns the pinned memory of this process, as counted by the kernel. */
  private static long pinnedBytes() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("VmPin:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
        .findFirst()
        .orElseThrow();
  }
}
