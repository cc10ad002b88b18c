// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.FerruleException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.StandardOptions;
import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.sm.endpoint.Endpoint;
import dev.ferrule.sm.endpoint.PassedMemory;
import dev.ferrule.sm.endpoint.ServerHandshake;
import dev.ferrule.sm.os.PosixException;
import dev.ferrule.spi.Deadlines;
import java.io.IOException;
import java.net.URI;

/** A client that waits; makes the connection from the server's side. */
final class SmConnectionRequest implements ConnectionRequest {

  private final SmListener listener;
  private final Endpoint endpoint;
  private final ServerHandshake handshake;
  private final ConnectionOptions options;
  private final Facilities facilities;

  SmConnectionRequest(
      SmListener listener,
      Endpoint endpoint,
      ServerHandshake handshake,
      ConnectionOptions options,
      Facilities facilities) {
    this.listener = listener;
    this.endpoint = endpoint;
    this.handshake = handshake;
    this.options = options;
    this.facilities = facilities;
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
    ConnectionResources resources = null;
    SmConnection connection = null;
    boolean done = false;
    try {
      resources = new ConnectionResources(endpoint, facilities);
      SharedRing peer = attachPeerRing(uri, resources);
      resources.makeOwnRing(
          SmOptions.layout(uri, options), peer.generation(), options.get(SmOptions.RMA_BUFFER));
      resources.openPeer(handshake.client(), handshake.clientId());
      URI name = endpoint.address().connectionUri(resources.id());
      connection = new SmConnection(name, resources, handshake.payload(), options);
      connection.start();
      handshake.accept(
          name, resources.id(), payload, resources.ownFile(), deadline, connection::isUsedByPeer);
      resources.closeOwnFile();
      connection.countRetransmissions(handshake.retransmissions());
      listener.accepted(connection);
      done = true;
      return connection;
    } catch (PosixException e) {
      if (e.is(LibC.ENXIO(), LibC.ENOENT())) {
        throw new PeerLostException(uri, "the client died while it was being accepted", e);
      }
      if (e.is(
          LibC.EPERM(),
          LibC.EACCES(),
          LibC.EISDIR(),
          LibC.ELOOP(),
          LibC.ENOTDIR(),
          LibC.EINVAL())) {
        throw new ProtocolException(
            uri, "the client's files are not what they should be: " + e.getMessage(), e);
      }
      throw refused(Failures.of(uri, e));
    } catch (IOException e) {
      throw refused(Failures.of(uri, e));
    } finally {
      if (!done) {
        handshake.abandon();
        if (connection != null) {
          connection.close(); // tells the client, too, in case that only its confirmation was lost
        } else if (resources != null) {
          resources.close();
        }
      }
    }
  }

  /** Has the client told what this side's program is told, and what to do about it. */
  private FerruleException refused(FerruleException failure) {
    handshake.refuseForLackOfRoom(String.valueOf(failure.getMessage()));
    return failure;
  }

  private SharedRing attachPeerRing(URI uri, ConnectionResources resources) {
    try (PassedMemory memory = handshake.memory()) {
      return resources
          .attachPeerRing(
              memory.file(),
              memory.isTrusted(),
              ring -> ring.generation() == handshake.generation())
          .orElseThrow(
              () ->
                  new ProtocolException(
                      uri, "the client's memory is not what it was at first", null));
    }
  }
}
