// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.ResourceExhaustedException;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A side that runs out of file descriptors, at any step. */
class FewDescriptorsTest extends ProcessTest {

  /** A process has more descriptors than this before it opens any of its own. */
  private static final int AT_LEAST = 5;

  @Test
  void aServerThatLacksDescriptorsReportsItToItsClientAtAnyStep() throws Exception {
    try (OtherProcess server = OtherProcess.start("limited server", address())) {
      URI listener = URI.create(server.line());
      Ferrule.connect(listener).close();
      int refused = 0;
      boolean connected = false;
      while (!connected) {
        assertThat(server.line()).startsWith("limit");
        try {
          Ferrule.connect(listener).close();
          connected = true;
        } catch (ResourceExhaustedException e) {
          assertThat(e)
              .hasMessageContaining("the listener lacks a resource")
              .hasMessageContaining("Too many open files")
              .hasMessageContaining("ulimit -n");
          refused++;
        }
        server.goOn();
      }
      assertThat(refused).isGreaterThan(AT_LEAST);
      Path connections = server.endpoint(directory).resolve("conns");
      await(() -> connections.toFile().list().length == 0);
      assertThat(connections).as("leak of files").isEmptyDirectory();
    }
  }

  @Test
  void aClientThatLacksDescriptorsReportsItAtAnyStep() throws Exception {
    try (Listener listener = Ferrule.listen(URI.create(address()));
        OtherProcess client = OtherProcess.start("limited client", address())) {
      CompletableFuture.runAsync(
          () -> {
            while (true) {
              listener.accept().close();
            }
          },
          task -> Thread.ofPlatform().daemon().start(task));
      int failures = 0;
      String line = client.line();
      while (!line.equals("connected")) {
        assertThat(line)
            .startsWith(ResourceExhaustedException.class.getName())
            .contains("Too many open files")
            .contains("ulimit -n");
        failures++;
        line = client.line();
      }
      assertThat(failures).isGreaterThan(AT_LEAST);
      assertThat(client.exitCode()).isZero();
      assertThat(client.endpoint(directory)).as("leak of files").doesNotExist();
    }
  }
}
