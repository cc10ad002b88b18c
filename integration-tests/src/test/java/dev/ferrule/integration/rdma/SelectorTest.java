// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.Readiness;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.contract.SelectorServer;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One thread serves the connections of two providers by one Selector. */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SelectorTest {

  private static final int CONNECTIONS_EACH = 50;
  private static final int MESSAGES = 5;

  @TempDir private Path folder;

  private static Connection connect(Listener listener) {
    return Ferrule.connect(
        listener.uri(),
        ConnectionOptions.builder()
            .set(StandardOptions.WAIT, WaitStrategy.BLOCK)
            .set(StandardOptions.MAX_MESSAGE, 4096L)
            .set(StandardOptions.CONNECT_TIMEOUT, Task.PATIENCE)
            .build());
  }

  private static void pingPong(Connection client) {
    for (int i = 0; i < MESSAGES; i++) {
      client.sender().send(MemorySegment.ofArray(new byte[] {(byte) i}));
      client.receiver().receive(Task.PATIENCE).close();
    }
  }

  @Test
  void aHundredConnectionsOfTwoProvidersAreServedByOneSelector() throws Exception {
    ConnectionOptions options =
        ConnectionOptions.builder()
            .set(StandardOptions.MAX_MESSAGE, 4096L)
            .set(StandardOptions.READINESS, Readiness.Interest.RECEIVE)
            .build();
    List<Connection> clients = new ArrayList<>();
    List<Connection> servers = new ArrayList<>();
    try (Listener shared = Ferrule.listen(URI.create("sm://" + folder), options);
        Listener remote =
            Ferrule.listen(URI.create(Wires.listenAddress("sendrecv?receives=8")), options)) {
      for (Listener listener : List.of(shared, remote)) {
        for (int i = 0; i < CONNECTIONS_EACH; i++) {
          CompletableFuture<Connection> client =
              CompletableFuture.supplyAsync(
                  () -> connect(listener), task -> Thread.ofPlatform().start(task));
          servers.add(listener.accept(Task.PATIENCE));
          clients.add(client.get());
        }
      }
      List<CompletableFuture<Void>> programs = new ArrayList<>();
      SelectorServer.serve(
          servers,
          MESSAGES,
          () -> {
            for (Connection client : clients) {
              programs.add(
                  CompletableFuture.runAsync(
                      () -> pingPong(client), task -> Thread.ofPlatform().start(task)));
            }
          });
      CompletableFuture.allOf(programs.toArray(CompletableFuture[]::new)).get();
      assertThat(programs).hasSize(2 * CONNECTIONS_EACH);
    } finally {
      clients.forEach(Connection::close);
      servers.forEach(Connection::close);
    }
  }
}
