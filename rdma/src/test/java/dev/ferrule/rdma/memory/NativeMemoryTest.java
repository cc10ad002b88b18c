// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import dev.ferrule.rdma.queue.SendMemory;
import dev.ferrule.verbs.FakeDevice;
import dev.ferrule.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class NativeMemoryTest {

  private static final long FAR_TOO_MUCH = 1L << 50;

  @Test
  void shouldAllocateZeroedMemoryInPagesOfItsOwn() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = NativeMemory.allocate(arena, 5000, "");
      assertThat(memory.address() % Posix.PAGE).isZero();
      assertThat(memory.mismatch(arena.allocate(5000))).isEqualTo(-1);
    }
  }

  @Test
  void shouldRefuseMoreThanTheSystemHasAvailableWithAdvice() {
    try (Arena arena = Arena.ofConfined()) {
      assertThatThrownBy(() -> NativeMemory.allocate(arena, FAR_TOO_MUCH, "use less"))
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM))
          .hasMessageContaining(FAR_TOO_MUCH + " bytes")
          .hasMessageEndingWith("use less");
    }
  }

  @Test
  void discardedMemoryReadsZerosAndCanStillBeAccessed() {
    MemorySegment memory = NativeMemory.allocate(Arena.ofAuto(), 2 * Posix.PAGE + 8, "");
    memory.fill((byte) 7);
    NativeMemory.discard(memory);
    assertThat(memory.mismatch(Arena.ofAuto().allocate(memory.byteSize()))).isEqualTo(-1);
    memory.fill((byte) 7);
  }

  @Test
  void aMappingWithoutRoomIsTriedOnceMoreAndOtherFailuresAreNot() {
    List<Integer> errors = new ArrayList<>(List.of(Errno.ENOMEM));
    Supplier<String> map =
        () -> {
          if (errors.isEmpty()) {
            return "mapped";
          }
          throw new PosixException("mmap", "", errors.removeFirst());
        };
    assertThat(NativeMemory.withRoom(map)).isEqualTo("mapped");
    errors.addAll(List.of(Errno.ENOMEM, Errno.ENOMEM));
    assertThatThrownBy(() -> NativeMemory.withRoom(map)).isInstanceOf(PosixException.class);
    errors.add(Errno.EINVAL);
    assertThatThrownBy(() -> NativeMemory.withRoom(map)).isInstanceOf(PosixException.class);
    assertThat(errors).isEmpty();
  }

  @Test
  void shouldRefuseSendMemoryThatIsTooLarge() {
    try (Arena arena = Arena.ofConfined()) {
      assertThatThrownBy(() -> new SendMemory(new FakeDevice().domain(), arena, FAR_TOO_MUCH))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("option sendBuffer");
    }
  }
}
