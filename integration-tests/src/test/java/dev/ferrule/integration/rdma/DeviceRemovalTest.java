// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionState;
import dev.ferrule.Ferrule;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.PeerLostException;
import dev.ferrule.ReceiveRegion;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/**
 * Removes the device, so this is the last test. It needs a kernel whose RDMA parts are modules: in
 * User-Mode Linux, ib_uverbs is linked after rdma_cm and removes the device first. It then waits
 * for the end of this process before rdma_cm can report the removal.
 */
@Tag("emulated")
@EnabledIfEnvironmentVariable(
    named = "FERRULE_RXE_VM",
    matches = "tcg|kvm",
    disabledReason = "the test would remove an RDMA device of this machine")
@Order(Integer.MAX_VALUE)
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeviceRemovalTest {

  /** The emulated device is slow, and a close that waits for a failed connection would hang. */
  private static final String OPTIONS = "?peerTimeout=32s&connectTimeout=120s&closeTimeout=300s";

  private static final String NO_DEVICE = "there is no RDMA device";

  /**
   * The kernel releases the device only after this process has ended: the command is not awaited.
   */
  @Test
  void aDeviceThatIsRemovedEndsItsConnectionsAndListeners() throws IOException {
    URI address = URI.create("sendrecv://" + RdmaDevice.address() + ":0");
    try (Listener listener = Wires.listen(OPTIONS);
        Wires.Pair pair = Wires.pair(listener, OPTIONS)) {
      Task<Connection> accepting = Task.start(listener::accept);
      Task<ReceiveRegion> receiving = Task.start(() -> pair.client().receiver().receive());
      new ProcessBuilder("rdma", "link", "delete", RdmaDevice.name()).inheritIO().start();

      assertThat(receiving.failure())
          .isInstanceOf(PeerLostException.class)
          .hasMessageContaining("device");
      Task.await("the other end has failed", () -> pair.server().state() == ConnectionState.FAILED);
      assertThat(accepting.failure())
          .isInstanceOf(FerruleException.class)
          .hasMessageContaining("device");
      assertThatThrownBy(() -> Numbered.send(pair.client().sender(), 0))
          .isInstanceOf(PeerLostException.class);
    }
    Task.await(
        "the library has searched for devices again",
        () -> listenFailure(address).contains(NO_DEVICE));
    assertThat(Ferrule.providers())
        .filteredOn(provider -> provider.scheme().equals("sendrecv"))
        .singleElement()
        .satisfies(provider -> assertThat(provider.availability().toString()).contains(NO_DEVICE));
  }

  private static String listenFailure(URI address) {
    try {
      Ferrule.listen(address).close();
      return "none";
    } catch (FerruleException e) {
      return e.getMessage();
    }
  }
}
