// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/** Creates connections for tests. */
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

  /**
   * Returns an address to listen on.
   *
   * @param what options, such as {@code ?receives=8}; or a scheme and options, such as {@code
   *     magicring?window=8}; or a whole address
   */
  static String listenAddress(String what) {
    int query = what.indexOf('?');
    return what.contains("://")
        ? what
        : (query == 0 ? "sendrecv" : what.substring(0, query))
            + "://"
            + RdmaDevice.address()
            + ":0"
            + what.substring(query);
  }

  /** Listens, see {@link #listenAddress}. */
  static Listener listen(String what) {
    return Ferrule.listen(URI.create(listenAddress(what)));
  }

  /** Connects this process to itself, see {@link #listenAddress}. */
  static Pair pair(String what) {
    try (Listener listener = listen(what)) {
      return pair(listener, what.substring(what.indexOf('?')));
    }
  }

  static Pair pair(Listener listener, String query) {
    Task<Connection> connecting = Task.start(() -> connect(listener.uri() + query, ""));
    Connection server = listener.accept(Task.PATIENCE);
    return new Pair(connecting.result(), server);
  }

  /**
   * Returns a connection to a listener whose connections share their buffers, once buffers are
   * available: another thread releases those of a closed connection. There may still be so few that
   * the client's sender has room for one message only, until the server frees it.
   */
  static Pair pairOnceThereAreBuffers(Listener listener, String query) {
    long deadline = System.nanoTime() + Task.PATIENCE.toNanos();
    while (true) {
      Task<Connection> connecting = Task.start(() -> connect(listener.uri() + query, ""));
      try {
        Connection server = listener.accept(Task.PATIENCE);
        return new Pair(connecting.result(), server);
      } catch (ResourceExhaustedException e) {
        connecting.failure();
        if (System.nanoTime() - deadline > 0) {
          throw e;
        }
      }
    }
  }

  /** Returns whether a sender can send the next message without waiting. */
  static boolean hasRoom(Sender sender) {
    SendRegion room = sender.tryClaim(1);
    if (room != null) {
      room.abort();
    }
    return room != null;
  }

  static Connection connect(String address, String payload) {
    return Ferrule.connect(
        URI.create(address),
        ConnectionOptions.builder()
            .set(StandardOptions.CONNECT_TIMEOUT, Task.PATIENCE)
            .payload(payload.getBytes(StandardCharsets.UTF_8))
            .build());
  }
}
