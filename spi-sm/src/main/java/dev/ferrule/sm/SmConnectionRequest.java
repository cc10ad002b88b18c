// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.FerruleException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.StandardOptions;
import dev.ferrule.posix.Errno;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.endpoint.Acceptor;
import dev.ferrule.sm.endpoint.Endpoint;
import dev.ferrule.sm.endpoint.EndpointFiles;
import dev.ferrule.sm.endpoint.EndpointScan;
import dev.ferrule.sm.endpoint.PassedMemory;
import dev.ferrule.sm.endpoint.ServerHandshake;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.support.Deadlines;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A waiting client; establishes the connection from the server's side. */
final class SmConnectionRequest implements ConnectionRequest {

  private final SmListener listener;
  private final Endpoint endpoint;
  private final ServerHandshake handshake;
  private final ResolvedOptions options;
  private final Facilities facilities;

  SmConnectionRequest(
      SmListener listener,
      Endpoint endpoint,
      ServerHandshake handshake,
      ResolvedOptions options,
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
    SmConnector.checkPayload(endpoint.address().uri(), payload);
    handshake.take(endpoint.address().uri());
    handshake.reject(payload);
  }

  @Override
  public Connection accept(byte[] payload) {
    long deadline = Deadlines.after(options.get(StandardOptions.CONNECT_TIMEOUT));
    SmConnection connection =
        make(
            payload,
            (made, resources) -> {
              made.onClose(ended -> handshake.ended(ended.failure()));
              handshake.accept(acceptance(made, resources, payload, deadline));
              resources.closeOwnFile();
            });
    confirmed(connection);
    return connection;
  }

  /**
   * Offers the client a connection, without waiting for its confirmation. The listener is notified
   * of the connection, and again when the client has confirmed it or failed to do so before the
   * deadline.
   */
  void offer(long deadline) {
    byte[] payload = {};
    make(
        payload,
        (made, resources) -> {
          listener.offering(handshake, made);
          handshake.offer(
              acceptance(made, resources, payload, deadline),
              () -> {
                resources.closeOwnFile();
                listener.resolved(handshake);
              });
          made.onClose(ended -> handshake.ended(ended.failure()));
        });
  }

  private static ServerHandshake.Acceptance acceptance(
      SmConnection made, SmConnectionResources resources, byte[] payload, long deadline) {
    return new ServerHandshake.Acceptance(
        made.uri(), resources.id(), payload, resources.ownFile(), deadline, made::isUsedByPeer);
  }

  /** Registers a confirmed connection, which is about to be returned. */
  void confirmed(SmConnection connection) {
    connection.countRetransmissions(handshake.retransmissions());
    listener.accepted(connection);
  }

  /** Creates a connection, and answers the client. After a failure, no resource is left. */
  private SmConnection make(
      byte[] payload, BiConsumer<SmConnection, SmConnectionResources> answer) {
    URI uri = endpoint.address().uri();
    SmConnector.checkPayload(uri, payload);
    handshake.take(uri);
    boolean done = false;
    try (PassedMemory memory = handshake.memory()) {
      SmConnection connection = null;
      while (connection == null) {
        connection = tryToMake(uri, memory, answer);
      }
      done = true;
      return connection;
    } catch (OutOfMemoryError e) {
      throw withoutRoom(Failures.of(uri, e));
    } catch (Error e) {
      handshake.refuse("the listener failed: " + e);
      throw e;
    } finally {
      if (!done) {
        handshake.abandon();
      }
    }
  }

  /** Returns null if there was no room, and room was made, so that another attempt may succeed. */
  private @Nullable SmConnection tryToMake(
      URI uri, PassedMemory memory, BiConsumer<SmConnection, SmConnectionResources> answer) {
    if (!endpoint.retain()) {
      throw new ConnectionClosedException(uri, false, "the listener was closed", null);
    }
    SmConnectionResources resources = null;
    SmConnection connection = null;
    boolean done = false;
    try {
      resources = new SmConnectionResources(endpoint, facilities, options);
      SharedRing peer = attachPeer(uri, memory, resources);
      resources.makeOwnRing(uri, peer.generation());
      URI name = endpoint.address().connectionUri(resources.id());
      connection = new SmConnection(name, resources, handshake.payload(), options);
      connection.start();
      answer.accept(connection, resources);
      done = true;
      return connection;
    } catch (PosixException e) {
      return makeRoom(Failures.of(uri, e));
    } catch (IOException e) {
      return makeRoom(Failures.of(uri, e));
    } finally {
      if (!done) {
        if (connection != null) {
          connection.close(); // notifies the client too, in case only its confirmation was lost
        } else if (resources != null) {
          resources.close();
        }
      }
    }
  }

  /**
   * Opens the client's files. This is the first step, because it is cheap: no memory is allocated
   * for a client that has died.
   */
  private SharedRing attachPeer(URI uri, PassedMemory memory, SmConnectionResources resources) {
    try {
      openFifo(uri, resources);
      Optional<SharedRing> ring =
          resources.attachPeerRing(memory, found -> found.generation() == handshake.generation());
      return ring.orElseThrow(() ->
          refused(
              uri, "the descriptor in the client's memory has changed since its request", null));
    } catch (PosixException e) {
      if (e.isShortage()) {
        throw e;
      }
      if (e.is(Errno.EFBIG)) {
        // each client chooses the size of its memory, so this side lacks no resource
        handshake.refuseForLackOfRoom(Failures.tooLargeForListener(e));
        throw new ProtocolException(uri, Failures.tooLarge(e), e);
      }
      FerruleException failure = refused(uri, Acceptor.unusable(e), e);
      throw hasLeft() ? hasStoppedWaiting(uri, e) : failure;
    }
  }

  /**
   * Returns whether the client has removed the connection's directory, as it does before it frees
   * the memory.
   */
  private boolean hasLeft() {
    Path client = handshake.client().directory();
    return Files.notExists(EndpointFiles.connection(client, handshake.clientId()));
  }

  private static ConnectionClosedException hasStoppedWaiting(URI uri, Throwable cause) {
    return new ConnectionClosedException(
        uri, true, "the client stopped waiting before it was accepted", cause);
  }

  private void openFifo(URI uri, SmConnectionResources resources) {
    try {
      resources.openFifo(handshake.client());
      resources.identifyPeer(handshake.clientId());
    } catch (PosixException e) {
      if (!e.is(Errno.ENOENT, Errno.ENXIO, Errno.ELOOP, Errno.ENOTDIR)) {
        throw e;
      }
      FerruleException failure =
          refused(
              uri,
              Acceptor.unusable(e)
                  + "; its file fifo must be a FIFO that its user owns and its process has opened to read",
              e);
      if (e.is(Errno.ENOENT, Errno.ENXIO) && !EndpointScan.isLive(handshake.client())) {
        throw e.is(Errno.ENOENT) // a closed endpoint has removed its files
            ? hasStoppedWaiting(uri, e)
            : new PeerLostException(uri, "the client died while it was being accepted", e);
      }
      throw failure;
    }
  }

  /** Refuses the client with a reason; returns the exception for the program. */
  private ProtocolException refused(URI uri, String reason, @Nullable Throwable cause) {
    handshake.refuse(reason);
    return new ProtocolException(uri, reason, cause);
  }

  /**
   * Withdraws the offers of clients that do not answer, to make room for this one. If there is no
   * such client, refuses this one with the program's exception, including the fix.
   */
  private @Nullable SmConnection makeRoom(FerruleException failure) {
    if (failure instanceof ResourceExhaustedException && listener.withdrawOverdue()) {
      return null;
    }
    throw withoutRoom(failure);
  }

  /** Refuses the client for lack of a resource; returns the exception for the program. */
  private FerruleException withoutRoom(FerruleException failure) {
    handshake.refuseForLackOfRoom(String.valueOf(failure.getMessage()));
    return failure;
  }
}
