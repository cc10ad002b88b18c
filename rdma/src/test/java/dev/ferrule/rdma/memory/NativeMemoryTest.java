// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.rdma.queue.SendMemory;
import dev.ferrule.verbs.Errno;
import dev.ferrule.verbs.FakeDevice;
import dev.ferrule.verbs.VerbsException;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

class NativeMemoryTest {

  private static final long FAR_TOO_MUCH = 1L << 50;

  @Test
  void shouldAllocateZeroedMemoryOfTheAlignment() {
    try (Arena arena = Arena.ofConfined()) {
      assertThat(NativeMemory.allocate(arena, 100, 4096, "").address() % 4096).isZero();
      assertThat(NativeMemory.allocate(arena, 100, 64, "").mismatch(arena.allocate(100)))
          .isEqualTo(-1);
    }
  }

  @Test
  void shouldRefuseMoreThanTheSystemHasAvailableWithAdvice() {
    try (Arena arena = Arena.ofConfined()) {
      assertThatThrownBy(() -> NativeMemory.allocate(arena, FAR_TOO_MUCH, 64, "use less"))
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
