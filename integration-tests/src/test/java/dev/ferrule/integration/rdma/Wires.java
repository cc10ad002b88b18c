// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Makes connections for tests. */
final class Wires {

  private Wires() {}

  /** Both ends of a connection within this process. */
  record Pair(Connection client, Connection server) implements AutoCloseable {
    @Override
    public void close() {
      client.close();
      server.close();
    }
  }

  static Listener listen(String query) {
    return Ferrule.listen(URI.create("sendrecv://" + RdmaDevice.address() + ":0" + query));
  }

  /** Connects this process to itself. */
  static Pair pair(String query) {
    try (Listener listener = listen(query)) {
      return pair(listener, query);
    }
  }

  static Pair pair(Listener listener, String query) {
    Task<Connection> connecting = Task.start(() -> connect(listener.uri() + query, ""));
    Connection server = listener.accept(Task.PATIENCE);
    return new Pair(connecting.result(), server);
  }

  static Connection connect(String address, String payload) {
    return Ferrule.connect(
        URI.create(address),
        ConnectionOptions.builder()
            .connectTimeout(Duration.ofSeconds(20))
            .payload(payload.getBytes(StandardCharsets.UTF_8))
            .build());
  }
}
