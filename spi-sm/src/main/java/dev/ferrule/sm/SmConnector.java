// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.StandardOptions;
import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.sm.endpoint.ClientEndpoints;
import dev.ferrule.sm.endpoint.ClientHandshake;
import dev.ferrule.sm.endpoint.Endpoint;
import dev.ferrule.sm.endpoint.EndpointDirectory;
import dev.ferrule.sm.endpoint.SmAddress;
import dev.ferrule.sm.os.Fifo;
import dev.ferrule.sm.os.PosixException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Makes one connection from the client's side. */
final class SmConnector {

  private final URI uri;
  private final SmAddress server;
  private final ConnectionOptions options;
  private final Arena arena = Arena.ofShared();
  private @Nullable SharedRing peer;

  private SmConnector(URI uri, SmAddress server, ConnectionOptions options) {
    this.uri = uri;
    this.server = server;
    this.options = options;
  }

  static SmConnection connect(URI uri, ConnectionOptions options) {
    checkPayload(options.payload());
    SmAddress address = SmAddress.parse(uri);
    SmOptions.layout(uri, options); // a bad option is to be heard of before anything is made
    try {
      SmAddress server = address.endpoint() == null ? find(uri, address) : address;
      if (!EndpointDirectory.isLive(server)) {
        throw new ConnectionRefusedException(
            uri, "nobody listens there: no process owns the endpoint " + server.directory(), null);
      }
      if (EndpointDirectory.owner(server) != LibC.geteuid()) {
        throw new ConnectionRefusedException(
            uri,
            "the endpoint belongs to the user with the id "
                + EndpointDirectory.owner(server)
                + "; both processes have to run as the same user",
            null);
      }
      return new SmConnector(uri, server, options).connect();
    } catch (PosixException e) {
      if (e.is(LibC.EACCES(), LibC.EPERM())) {
        throw new ConnectionRefusedException(
            uri,
            "the endpoint belongs to another user ("
                + e.getMessage()
                + "); both processes have to run as the same user",
            e);
      }
      throw Failures.of(uri, e);
    } catch (IOException e) {
      throw Failures.of(uri, e);
    }
  }

  static void checkPayload(byte[] payload) {
    if (payload.length > Endpoint.MAX_PAYLOAD) {
      throw new IllegalArgumentException(
          "a payload of "
              + payload.length
              + " bytes; sm takes "
              + Endpoint.MAX_PAYLOAD
              + " at most");
    }
  }

  private static SmAddress find(URI uri, SmAddress address) {
    List<SmAddress> listeners = EndpointDirectory.listeners(address);
    if (listeners.isEmpty()) {
      throw new ConnectionRefusedException(
          uri, "nobody listens there: no live listener in " + address.base(), null);
    }
    if (listeners.size() > 1) {
      throw new InvalidAddressException(
          uri,
          listeners.size()
              + " listeners are in that directory; name one: "
              + listeners.stream()
                  .map(one -> one.uri().toString())
                  .collect(Collectors.joining(", ")),
          null);
    }
    return listeners.get(0);
  }

  private SmConnection connect() throws IOException {
    long deadline = Deadlines.after(options.get(StandardOptions.CONNECT_TIMEOUT));
    Endpoint endpoint = ClientEndpoints.retain(server);
    int id = 0;
    Fifo.Writer fifo = null;
    SmConnection connection = null;
    ClientHandshake handshake = null;
    boolean done = false;
    try {
      id = endpoint.newConnection();
      SharedRing own =
          SharedRing.create(
              endpoint.connectionDirectory(id), SmOptions.layout(uri, options), 0, arena);
      handshake = endpoint.connect(id, server, options.payload());
      ClientHandshake.Accepted accepted =
          handshake.await(uri, deadline, answer -> attach(answer.serverId(), own.generation()));
      SharedRing attached = peer;
      if (attached == null) {
        throw new AssertionError("accepted without a ring");
      }
      fifo = openFifo();
      connection =
          new SmConnection(
              new SmConnection.Parts(
                  server.connectionUri(id),
                  endpoint,
                  id,
                  accepted.serverId(),
                  own,
                  attached,
                  fifo,
                  arena,
                  accepted.payload()),
              options);
      connection.countRetransmissions(handshake.retransmissions());
      connection.start();
      handshake.confirm(accepted);
      done = true;
      return connection;
    } finally {
      if (!done) {
        if (handshake != null) {
          handshake.cancel();
        }
        if (connection != null) {
          connection.close();
        } else {
          giveUp(endpoint, id, fifo);
        }
      }
    }
  }

  /**
   * Whether an acceptance is of this connection: the server's ring has to name ours as its
   * opposite.
   */
  private boolean attach(int serverId, long generation) {
    Path directory =
        server
            .directory()
            .resolve(EndpointDirectory.CONNECTIONS)
            .resolve(Integer.toString(serverId));
    Optional<SharedRing> found = SharedRing.attach(directory, arena);
    if (found.isEmpty() || found.get().peerGeneration() != generation) {
      return false;
    }
    peer = found.get();
    return true;
  }

  private Fifo.Writer openFifo() {
    try {
      return new Fifo.Writer(server.directory().resolve(EndpointDirectory.FIFO));
    } catch (PosixException e) {
      if (e.is(LibC.ENXIO(), LibC.ENOENT())) {
        throw new ConnectionRefusedException(
            uri, "the listener's process died while it accepted the connection", e);
      }
      throw e;
    }
  }

  private void giveUp(Endpoint endpoint, int id, Fifo.@Nullable Writer fifo) {
    if (id != 0) {
      endpoint.removeLink(id);
      endpoint.removeConnection(id);
    }
    if (fifo != null) {
      fifo.close();
    }
    Unmapper.close(arena);
    endpoint.release();
  }
}
