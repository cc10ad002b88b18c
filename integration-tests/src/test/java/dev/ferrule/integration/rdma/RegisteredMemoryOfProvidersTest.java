// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Listener;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.RegisteredMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Connections of both RDMA providers can use the same registered memory; others cannot use it. */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RegisteredMemoryOfProvidersTest {

  private static final String OPTIONS = "?maxMessage=4KiB";

  private static void assertPasses(Wires.Pair pair, RegisteredMemory memory, int value) {
    memory.segment().fill((byte) value);
    pair.client().sender().await(pair.client().sender().sendRegistered(memory, 0, 4000));
    try (ReceiveRegion message = pair.server().receiver().receive(Task.PATIENCE)) {
      assertThat(message.segment().toArray(ValueLayout.JAVA_BYTE))
          .hasSize(4000)
          .containsOnly(value);
    }
  }

  @ParameterizedTest
  @CsvSource({"sendrecv, magicring", "magicring, sendrecv"})
  void memoryThatIsRegisteredWithOneProviderIsSentByTheOther(String first, String second) {
    try (Arena arena = Arena.ofShared();
        Wires.Pair registering = Wires.pair(first + OPTIONS);
        Wires.Pair other = Wires.pair(second + OPTIONS);
        RegisteredMemory memory = registering.client().register(arena.allocate(4000))) {
      assertPasses(registering, memory, 1);
      assertPasses(other, memory, 2);
      registering.client().close();
      assertPasses(other, memory, 3);
    }
  }

  @Test
  void rdmaRefusesMemoryOfSmAndViceVersa(@TempDir Path folder) {
    try (Arena arena = Arena.ofShared();
        Listener listener = Wires.listen("sm://" + folder.resolve("app"));
        Wires.Pair local = Wires.pair(listener, "");
        Wires.Pair remote = Wires.pair("sendrecv" + OPTIONS)) {
      RegisteredMemory ofLocal = local.client().register(arena.allocate(4000));
      RegisteredMemory ofRemote = remote.client().register(arena.allocate(4000));

      assertThatThrownBy(() -> remote.client().sender().sendRegistered(ofLocal, 0, 4000))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContainingAll(
              local.client().uri().toString(), remote.client().uri().toString(), "register it");
      assertThatThrownBy(() -> local.client().sender().sendRegistered(ofRemote, 0, 4000))
          .isInstanceOf(IllegalArgumentException.class);
      assertPasses(remote, ofRemote, 4);
      ofRemote.close();
    }
  }
}
