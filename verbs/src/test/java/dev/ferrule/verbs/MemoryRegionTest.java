// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mockingDetails;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class MemoryRegionTest {

  private static final long PATTERN = 0x5555_5555_5555_5555L;

  private final FakeDevice device = new FakeDevice();
  private final long handle = device.registrations();
  private final ProtectionDomain domain = device.domain();

  @Test
  void allocatedMemoryStartsAtAPageAndIsRegistered() {
    try (MemoryRegion region =
        domain.allocate(100, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ)) {
      assertThat(region.segment().address() % Posix.PAGE).isZero();
      assertThat(region.segment().byteSize()).isEqualTo(100);
      assertThat(region.localKey()).isEqualTo(5);
      assertThat(region.remoteKey()).isEqualTo(6);
      verify(device.verbs).regMr(domain.address(), region.segment().address(), 100, 5);
    }
  }

  @Test
  void allocatedMemoryIsFreedAfterTheRegistrationEnds() {
    MemoryRegion region = domain.allocate(8, 0);
    List<Boolean> alive = new ArrayList<>();
    when(device.verbs.deregMr(handle))
        .thenAnswer(call -> {
          alive.add(region.segment().scope().isAlive());
          return 0;
        });
    region.close();
    assertThat(alive).containsExactly(true);
    assertThat(region.segment().scope().isAlive()).isFalse();
    region.close();
    assertThat(alive).hasSize(1);
  }

  @Test
  void memoryStaysAllocatedIfTheDeviceFailsToDeregister() {
    MemoryRegion region = domain.allocate(8, 0);
    device.errno = 16;
    assertThatExceptionOfType(VerbsException.class).isThrownBy(region::close);
    assertThat(region.segment().scope().isAlive()).isTrue();
    device.errno = 0;
    region.close();
    assertThat(region.segment().scope().isAlive()).isFalse();
    verify(device.verbs, times(2)).deregMr(handle);
  }

  @Test
  void closingTheArenaEndsTheRegistrationFirst() {
    List<Long> seen = new ArrayList<>();
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(8); // a confined arena frees its first allocation first
      long address = memory.address();
      RawMemory.putLong(address, PATTERN);
      when(device.verbs.deregMr(handle))
          .thenAnswer(call -> {
            seen.add(RawMemory.getLong(address));
            return 0;
          });
      domain.register(arena, memory, 0);
      assertThat(seen).isEmpty();
    }
    // The allocator overwrites the start of freed memory.
    assertThat(seen).containsExactly(PATTERN);
  }

  @Test
  void closingTheArenaEndsTheRegistrationBeforeOlderCleanupActions() {
    List<String> order = new ArrayList<>();
    when(device.verbs.deregMr(handle))
        .thenAnswer(call -> {
          order.add("ibv_dereg_mr");
          return 0;
        });
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory =
          arena.allocate(8).reinterpret(arena, ignored -> order.add("older action"));
      domain.register(arena, memory, 0);
    }
    assertThat(order).containsExactly("ibv_dereg_mr", "older action");
  }

  @Test
  void anArenaThatIsConfinedIsRefusedBecauseItWouldFreeTheMemoryFirst() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(8);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> domain.register(arena, memory, 0))
          .withMessageContaining("use Arena.ofShared()");
    }
    verify(device.verbs, never()).regMr(anyLong(), anyLong(), anyLong(), anyInt());
  }

  @Test
  void aRegionMayBeClosedBeforeItsArena() {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(8);
      domain.register(arena, memory, 0).close();
      assertThat(memory.scope().isAlive()).isTrue();
      verify(device.verbs).deregMr(handle);
    }
    verify(device.verbs, times(1)).deregMr(anyLong());
  }

  @Test
  void anAutomaticArenaEndsTheRegistrationWhenItIsUnreachable() throws InterruptedException {
    registerAndForget();
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (!isDeregistered() && System.nanoTime() - deadline < 0) {
      System.gc();
      Thread.sleep(20); // the step of the loop
    }
    verify(device.verbs).deregMr(handle);
  }

  private boolean isDeregistered() {
    return mockingDetails(device.verbs).getInvocations().stream()
        .anyMatch(call -> call.getMethod().getName().equals("deregMr"));
  }

  private void registerAndForget() {
    Arena arena = Arena.ofAuto();
    domain.register(arena, arena.allocate(8), 0);
    // The mock keeps the arguments of its calls, but those of regMr are only numbers.
    assertThat(isDeregistered()).isFalse();
  }

  @Test
  void theRegistrationEndsIfTheArenaIsClosed() {
    Arena arena = Arena.ofShared();
    MemorySegment memory = arena.allocate(8);
    arena.close();
    assertThatIllegalStateException().isThrownBy(() -> domain.register(arena, memory, 0));
    verify(device.verbs, times(1)).deregMr(handle);
  }

  @Test
  void memoryOfAnotherArenaOrOfTheHeapIsRefused() {
    try (Arena arena = Arena.ofConfined();
        Arena other = Arena.ofConfined()) {
      MemorySegment memory = other.allocate(8);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> domain.register(arena, memory, 0))
          .withMessage("the memory belongs to another arena");
      MemorySegment heap = MemorySegment.ofArray(new byte[8]);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> domain.register(arena, heap, 0))
          .withMessageContaining("heap");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> domain.register(heap, 0))
          .withMessageContaining("heap");
    }
    verify(device.verbs, never()).regMr(anyLong(), anyLong(), anyLong(), anyInt());
  }

  @Test
  void theExceptionForTheLimitOfLockedMemoryHasAdvice() {
    FakeDevice full = new FakeDevice();
    full.errno = Errno.ENOMEM;
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> full.domain().allocate(1 << 20, 0))
        .withMessageStartingWith(
            "ibv_reg_mr(1048576 bytes): Cannot allocate memory (errno 12); raise the limit of"
                + " locked memory (ulimit -l unlimited");
  }
}
