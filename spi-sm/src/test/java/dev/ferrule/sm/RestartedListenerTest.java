// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.PeerLostException;
import dev.ferrule.sm.endpoint.EndpointFiles;
import dev.ferrule.sm.os.OwnDirectory;
import dev.ferrule.sm.os.OwnerLock;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A listener's process that is killed during a handshake, and another one at its address. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RestartedListenerTest {

  @TempDir Path directory = Path.of("");

  private OwnerLock lock;
  private FakeListener killed;
  private FakeListener restarted;
  private CompletableFuture<Connection> connecting;

  @BeforeEach
  void beginToConnect() throws Exception {
    Path endpoint = directory.resolve("app/1/1"); // as in a container
    OwnDirectory.create(directory.resolve("app"));
    OwnDirectory.create(directory.resolve("app/1"));
    OwnDirectory.create(endpoint);
    lock = OwnerLock.tryAcquire(endpoint.resolve(EndpointFiles.LOCK));
    assertThat(lock).isNotNull();
    killed = new FakeListener(endpoint);
    restarted = new FakeListener(directory.resolve("other/1/1"));
    // only the end of the listener's process ends the connection
    URI uri = URI.create("sm://" + endpoint + "?connectTimeout=10m&peerTimeout=0s");
    connecting =
        CompletableFuture.supplyAsync(
            () -> Ferrule.connect(uri), task -> Thread.ofPlatform().daemon().start(task));
  }

  @AfterEach
  void close() {
    killed.close();
    restarted.close();
    lock.close();
  }

  /** The acceptance was in flight when its sender was killed, and names the client's memory. */
  @Test
  void aClientConnectsToTheNewProcessIfTheAcceptanceIsOfTheKilledOne() throws Exception {
    FakeListener.Request first = killed.next();
    restarted.replace(killed);
    killed.close();

    restarted.accept(first, 7); // the client identifies the sender only by the address

    assertConnectsAnew(first);
  }

  @Test
  void aClientConnectsAnewIfTheNewProcessAcceptsWhatBeganWithTheKilledOne() throws Exception {
    killed.next();
    restarted.replace(killed);
    killed.close();
    FakeListener.Request repeated = restarted.next();
    assertThat(repeated.type()).isEqualTo(FakeListener.CONNECT);

    restarted.accept(repeated, 7);

    assertConnectsAnew(repeated);
  }

  private void assertConnectsAnew(FakeListener.Request first) throws Exception {
    FakeListener.Request second = restarted.next();
    while (second.clientId() == first.clientId()) {
      assertThat(second.type()).isNotEqualTo(FakeListener.ACK);
      second = restarted.next();
    }
    assertThat(second.type()).isEqualTo(FakeListener.CONNECT);
    restarted.accept(second, 8);
    try (Connection connection = connecting.get()) {
      FakeListener.Request confirmation = restarted.next();
      while (confirmation.type() == FakeListener.CONNECT) {
        confirmation = restarted.next();
      }
      assertThat(confirmation.type()).isEqualTo(FakeListener.ACK);
      assertThat(confirmation.serverId()).isEqualTo(8);
      restarted.close();
      assertThatThrownBy(() -> connection.receiver().receive())
          .isInstanceOf(PeerLostException.class);
    }
  }

  /** The FIFO that the client has open is the dead process's. */
  @Test
  void theDeathOfTheListenerIsNoticedIfAnotherProcessHasItsAddressAtOnce() throws Exception {
    killed.accept(killed.next(), 7);
    try (Connection connection = connecting.get()) {
      restarted.replace(killed);
      killed.close();
      assertThatThrownBy(() -> connection.receiver().receive())
          .isInstanceOf(PeerLostException.class);
    }
  }
}
