// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.AddressInUseException;
import dev.ferrule.Connection;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.PeerLostException;
import dev.ferrule.ReceiveRegion;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class StaleEndpointTest extends ProcessTest {

  @Test
  void shouldRestartAtTheAddressOfAProcessThatWasKilled() throws Exception {
    String address = address() + "/1/1"; // as in a container, where every process is the first
    try (OtherProcess other = OtherProcess.start("listen", address, "1");
        Connection survivor = Ferrule.connect(URI.create(other.line()))) {
      assertThat(other.line()).isEqualTo("accepted");
      other.kill();
      assertThat(directory.resolve("1/1/sock")).as("the socket of a killed process").exists();

      try (Listener restarted = Ferrule.listen(URI.create(address))) {
        assertThat(restarted.uri()).isEqualTo(URI.create(address));
        exchangeAMessage(restarted);
        assertThatThrownBy(() -> survivor.receiver().receive())
            .as("the restarted process differs")
            .isInstanceOf(PeerLostException.class);
      }
    }
    assertThat(files()).isEmpty();
  }

  @Test
  void shouldReclaimFilesOfKilledProcessesOnTheNextListenOrConnectInTheDirectory()
      throws Exception {
    Path stale;
    try (Listener listener = Ferrule.listen(URI.create(address()))) {
      try (OtherProcess other = OtherProcess.start("connect", listener.uri().toString());
          Connection connection = listener.accept()) {
        other.line();
        stale = other.endpoint(directory);
        other.kill();
        assertThatThrownBy(() -> connection.receiver().receive())
            .isInstanceOf(PeerLostException.class);
      }
      assertThat(stale).exists();

      exchangeAMessage(listener);

      assertThat(stale).doesNotExist();
    }
    assertThat(files()).isEmpty();
  }

  @Test
  void shouldNeverTouchALiveEndpoint() throws Exception {
    try (OtherProcess other = OtherProcess.start("echo", address() + "/7/7")) {
      URI listener = URI.create(other.line());
      assertThatThrownBy(() -> Ferrule.listen(listener))
          .isInstanceOf(AddressInUseException.class)
          .hasMessageContaining(listener.toString());
      for (int i = 0; i < 20; i++) {
        Ferrule.listen(URI.create(address())).close(); // each one searches for stale endpoints
      }
      try (Connection connection = Ferrule.connect(listener)) {
        connection.sender().send(MemorySegment.ofArray(new byte[3]));
        try (ReceiveRegion answer = connection.receiver().receive()) {
          assertThat(answer.length()).isEqualTo(3);
        }
      }
    }
  }

  @Test
  void shouldRefuseAtOnceToConnectToAProcessThatIsDead() throws Exception {
    try (OtherProcess other = OtherProcess.start("listen", address(), "1")) {
      URI listener = URI.create(other.line());
      other.kill();
      assertThatThrownBy(() -> Ferrule.connect(listener))
          .isInstanceOf(ConnectionRefusedException.class)
          .hasMessageContaining("no listener at ");
      assertThatThrownBy(() -> Ferrule.connect(URI.create(address())))
          .isInstanceOf(ConnectionRefusedException.class)
          .hasMessageContaining("no live listener");
    }
  }

  @Test
  void shouldFindTheOneListenerOfADirectoryAndReportSeveral() throws Exception {
    try (OtherProcess other = OtherProcess.start("echo", address())) {
      final String first = other.line();
      try (Connection connection = Ferrule.connect(URI.create(address()))) {
        assertThat(connection.uri().toString()).startsWith(first);
        try (Listener second = Ferrule.listen(URI.create(address()))) {
          assertThatThrownBy(() -> Ferrule.connect(URI.create(address())))
              .isInstanceOf(ConnectionRefusedException.class)
              .hasMessageContaining(first)
              .hasMessageContaining(second.uri().toString());
        }
      }
    }
  }

  private static void exchangeAMessage(Listener listener) {
    CompletableFuture<Connection> connecting =
        CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
    try (Connection server = listener.accept();
        Connection client = connecting.join()) {
      client.sender().send(MemorySegment.ofArray(new byte[5]));
      try (ReceiveRegion message = server.receiver().receive()) {
        assertThat(message.length()).isEqualTo(5);
      }
    }
  }
}
