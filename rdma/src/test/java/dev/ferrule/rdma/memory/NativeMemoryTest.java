// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.Posix;
import dev.ferrule.rdma.queue.SendMemory;
import dev.ferrule.verbs.FakeDevice;
import dev.ferrule.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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
  void shouldRefuseSendMemoryThatIsTooLarge() {
    try (Arena arena = Arena.ofConfined()) {
      assertThatThrownBy(() -> new SendMemory(new FakeDevice().domain(), arena, FAR_TOO_MUCH))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("option buffer");
    }
  }
}
