// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.Listener;
import dev.ferrule.sm.SmProvider;
import dev.ferrule.spi.EndpointInfo;
import dev.ferrule.spi.EndpointRegistry;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The endpoint registry behind {@code ferrule ls} and {@code ferrule clean}. */
@SuppressWarnings("try") // listeners that only need to exist
class EndpointRegistryTest extends ProcessTest {

  private final EndpointRegistry registry = new SmProvider().endpointRegistry().orElseThrow();

  private URI uri() {
    return URI.create(address());
  }

  @Test
  void shouldListLiveAndDeadEndpointsAndRemoveOnlyTheDead() throws Exception {
    try (Listener listener = Ferrule.listen(uri());
        OtherProcess other = OtherProcess.start("connect", listener.uri().toString());
        Connection connection = listener.accept()) {
      other.line();
      assertThat(registry.list(uri()))
          .extracting(EndpointInfo::state)
          .containsExactly(EndpointInfo.State.LIVE, EndpointInfo.State.LIVE);
      other.kill();

      assertThat(registry.list(uri()))
          .extracting(EndpointInfo::state)
          .containsExactlyInAnyOrder(EndpointInfo.State.LIVE, EndpointInfo.State.STALE);
      assertThat(registry.list(listener.uri()))
          .singleElement()
          .satisfies(own -> {
            assertThat(own.address()).isEqualTo(listener.uri());
            assertThat(own.state()).isEqualTo(EndpointInfo.State.LIVE);
            assertThat(own.description()).startsWith("listener of process");
            assertThat(own.connections()).isEqualTo(1);
            assertThat(own.bytes()).isGreaterThan(20 << 10);
          });
      assertThat(registry.clean(listener.uri())).isEmpty();

      assertThat(registry.clean(uri()))
          .singleElement()
          .satisfies(dead -> assertThat(dead.description()).startsWith("client"));

      assertThat(registry.list(uri()))
          .extracting(EndpointInfo::address)
          .containsExactly(listener.uri());
      assertThat(registry.clean(uri())).isEmpty();
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
      listener.accept().close(); // it is alive
      connecting.join().close();
    }
    assertThat(files()).isEmpty();
  }

  @Test
  void shouldRemoveNothingThatFerruleHasNotCreated() throws IOException {
    Path file = Files.createDirectories(directory.resolve("123/4")).resolve("lock");
    Files.writeString(file, "listener of process 123");
    Files.writeString(directory.resolve("notes"), "mine");

    assertThat(registry.list(uri())).isEmpty();
    assertThat(registry.clean(uri())).isEmpty();
    assertThat(registry.clean(URI.create(address() + "/123/4"))).isEmpty();

    assertThat(file).exists();
    assertThat(directory.resolve("notes")).exists();
  }

  @Test
  void shouldReportAMissingDirectory() {
    assertThatThrownBy(() -> registry.list(URI.create(address() + "/nowhere")))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessageContaining("nowhere");
    assertThatThrownBy(() -> registry.clean(URI.create("sm://host/tmp")))
        .isInstanceOf(InvalidAddressException.class);
  }
}
