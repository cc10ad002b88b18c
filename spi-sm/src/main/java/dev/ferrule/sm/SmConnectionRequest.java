// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.FerruleException;
import dev.ferrule.PeerLostException;
import dev.ferrule.StandardOptions;
import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.sm.endpoint.Endpoint;
import dev.ferrule.sm.endpoint.EndpointDirectory;
import dev.ferrule.sm.endpoint.ServerHandshake;
import dev.ferrule.sm.os.Fifo;
import dev.ferrule.sm.os.PosixException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.URI;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A client that waits; makes the connection from the server's side. */
final class SmConnectionRequest implements ConnectionRequest {

  private final Endpoint endpoint;
  private final ServerHandshake handshake;
  private final ConnectionOptions options;

  SmConnectionRequest(Endpoint endpoint, ServerHandshake handshake, ConnectionOptions options) {
    this.endpoint = endpoint;
    this.handshake = handshake;
    this.options = options;
  }

  @Override
  public byte[] payload() {
    return handshake.payload();
  }

  @Override
  public URI peer() {
    return handshake.client().uri();
  }

  @Override
  public void reject(byte[] payload) {
    SmConnector.checkPayload(payload);
    handshake.take(endpoint.address().uri());
    handshake.reject(payload);
  }

  @Override
  public Connection accept(byte[] payload) {
    return accept(payload, Deadlines.after(options.get(StandardOptions.CONNECT_TIMEOUT)));
  }

  /** Accepts, waiting for the client's confirmation no longer than until the deadline. */
  SmConnection accept(byte[] payload, long deadline) {
    SmConnector.checkPayload(payload);
    URI uri = endpoint.address().uri();
    handshake.take(uri);
    if (!endpoint.retain()) {
      throw new ConnectionClosedException(uri, false, "the listener was closed", null);
    }
    Arena arena = Arena.ofShared();
    int id = 0;
    Fifo.Writer fifo = null;
    SmConnection connection = null;
    boolean done = false;
    try {
      id = endpoint.newConnection();
      SharedRing peer = attach(uri, arena);
      SharedRing own =
          SharedRing.create(
              endpoint.connectionDirectory(id),
              SmOptions.layout(uri, options),
              peer.generation(),
              arena);
      fifo = new Fifo.Writer(handshake.client().directory().resolve(EndpointDirectory.FIFO));
      URI name = endpoint.address().connectionUri(id);
      connection =
          new SmConnection(
              new SmConnection.Parts(
                  name,
                  endpoint,
                  id,
                  handshake.clientId(),
                  own,
                  peer,
                  fifo,
                  arena,
                  handshake.payload()),
              options);
      connection.start();
      handshake.accept(name, id, payload, deadline, connection::isUsedByPeer);
      connection.countRetransmissions(handshake.retransmissions());
      done = true;
      return connection;
    } catch (PosixException e) {
      if (e.is(LibC.ENXIO(), LibC.ENOENT())) {
        throw new PeerLostException(uri, "the client died while it was being accepted", e);
      }
      FerruleException failure = Failures.of(uri, e);
      handshake.refuseForLackOfRoom(String.valueOf(e.getMessage()));
      throw failure;
    } catch (IOException e) {
      handshake.refuseForLackOfRoom(String.valueOf(e.getMessage()));
      throw Failures.of(uri, e);
    } finally {
      if (connection == null) {
        handshake.abandon();
        giveUp(id, fifo, arena);
      } else if (!done) {
        connection.close(); // tells the client, too, in case that only its confirmation was lost
      }
    }
  }

  private SharedRing attach(URI uri, Arena arena) {
    Path directory =
        handshake
            .client()
            .directory()
            .resolve(EndpointDirectory.CONNECTIONS)
            .resolve(Integer.toString(handshake.clientId()));
    return SharedRing.attach(directory, arena)
        .filter(ring -> ring.generation() == handshake.generation())
        .orElseThrow(
            () ->
                new ConnectionClosedException(
                    uri, true, "the client has given up waiting to be accepted", null));
  }

  private void giveUp(int id, Fifo.@Nullable Writer fifo, Arena arena) {
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
