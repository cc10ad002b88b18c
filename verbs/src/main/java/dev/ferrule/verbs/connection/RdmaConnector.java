// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.FerruleException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.verbs.Errno;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.VerbsLibrary;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.cm.ConnectionParameters;
import dev.ferrule.verbs.endpoint.Fabric;
import dev.ferrule.verbs.endpoint.RdmaAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Optional;
import java.util.function.Supplier;

/** Makes one connection from the client's side. */
final class RdmaConnector {

  private static final String NO_HOST =
      "no host with that address has answered in time (ARP): see ip neighbour and ping";

  private static final String NO_ROUTE = "no route to that host was found in time";

  private final RdmaProtocol protocol;
  private final URI uri;
  private final RdmaAddress server;
  private final ConnectionOptions options;
  private final Mailbox mailbox = new Mailbox();

  private RdmaConnector(
      RdmaProtocol protocol, URI uri, RdmaAddress server, ConnectionOptions options) {
    this.protocol = protocol;
    this.uri = uri;
    this.server = server;
    this.options = options;
  }

  static RdmaConnection connect(
      RdmaProtocol protocol, Supplier<VerbsLibrary> library, URI uri, ConnectionOptions options) {
    Handshake.checkPayload(protocol, options.payload(), ConnectionParameters.MAX_REQUEST_DATA);
    RdmaAddress address = RdmaAddress.parse(uri);
    if (address.port() == 0) {
      throw new InvalidAddressException(
          uri, "no listener has port 0: write the port of the listener", null);
    }
    InetSocketAddress peer = address.resolve();
    try {
      return new RdmaConnector(protocol, uri, address, options).connect(library.get(), peer);
    } catch (VerbsException e) {
      throw RdmaFailures.of(uri, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new OperationInterruptedException(uri, "interrupted while connecting", e);
    }
  }

  private RdmaConnection connect(VerbsLibrary library, InetSocketAddress peer)
      throws InterruptedException {
    Fabric fabric = Fabric.retain(library);
    CmId id;
    boolean made = false;
    try {
      id = fabric.createId(mailbox);
      made = true;
    } finally {
      if (!made) {
        fabric.release();
      }
    }
    PeerPatience patience = new PeerPatience(mailbox, fabric, options);
    ConnectionResources resources = new ConnectionResources(protocol, fabric, id, null);
    RdmaConnection connection;
    boolean done = false;
    try {
      id.resolveAddress(peer, patience.millisLeft());
      expect(patience, CmEvent.Type.ADDRESS_RESOLVED, NO_HOST);
      id.setAckTimeout(RdmaOptions.ackTimeout(options, protocol.hasHandshake(options)));
      id.resolveRoute(patience.millisLeft());
      expect(patience, CmEvent.Type.ROUTE_RESOLVED, NO_ROUTE);
      resources.makeQueues(options, true);
      byte[] hello =
          Handshake.hello(Hello.Kind.CONNECT, protocol, options, resources, options.payload());
      id.connect(Handshake.request(hello, options, resources.device().attributes()));
      CmEvent answer =
          expect(
              patience,
              CmEvent.Type.ESTABLISHED,
              "timed out: the listener has not accepted within connectTimeout (raise it, or have the"
                  + " listener call accept() more often)");
      connection = make(resources, answer);
      done = true;
    } finally {
      if (!done) {
        resources.close();
      }
    }
    start(connection); // which closes the resources from here on
    return connection;
  }

  private RdmaConnection make(ConnectionResources resources, CmEvent answer) {
    Hello hello = protocol.hasHandshake(options) ? acceptance(answer) : null;
    Agreement agreement = resources.receiveSide().agree(hello);
    resources.makeSendMemory(RdmaOptions.sendMemory(options, agreement.peerMaxMessage()));
    return new RdmaConnection(
        server.connectionUri(RdmaConnection.nextNumber()), resources, agreement, hello, options);
  }

  /** Starts a connection, or gives it up: the device's events may end it from here on. */
  private void start(RdmaConnection connection) {
    boolean done = false;
    try {
      connection.start(connection::onConfirmed, options.get(RdmaOptions.MIN_RNR_TIMER));
      connection.heed(mailbox);
      done = true;
    } finally {
      if (!done) {
        connection.abandon("the connection could not be completed");
      }
    }
  }

  private Hello acceptance(CmEvent answer) {
    Optional<Hello> hello = protocol.hello().decode(answer.privateData());
    if (hello.isPresent() && hello.get().version() != protocol.hello().version()) {
      throw Rejections.versionMismatch(uri, protocol, hello.get());
    }
    if (hello.isEmpty() || hello.get().kind() != Hello.Kind.ACCEPT) {
      throw new ProtocolException(uri, protocol.texts().stranger(), null);
    }
    return hello.get();
  }

  /**
   * Waits for an event; any other one is the end of the attempt.
   *
   * @param tooLate what to say if there is none
   */
  private CmEvent expect(PeerPatience patience, CmEvent.Type wanted, String tooLate)
      throws InterruptedException {
    while (true) {
      CmEvent event = patience.next();
      if (event == null) {
        throw new OperationTimeoutException(uri, tooLate, null);
      }
      if (event.type() == wanted) {
        return event;
      }
      if (event.type() != CmEvent.Type.CONNECT_RESPONSE) {
        throw failure(event);
      }
    }
  }

  private FerruleException failure(CmEvent event) {
    return switch (event.type()) {
      case REJECTED -> Rejections.of(uri, protocol, protocol.hasHandshake(options), event);
      case ADDRESS_ERROR, ROUTE_ERROR ->
          event.status() == -Errno.ETIMEDOUT
              ? new OperationTimeoutException(
                  uri, event.type() == CmEvent.Type.ADDRESS_ERROR ? NO_HOST : NO_ROUTE, null)
              : unreachable(event);
      case UNREACHABLE ->
          new ConnectionRefusedException(
              uri, "that host does not answer (status " + event.status() + ")", null);
      case DEVICE_REMOVAL -> new PeerLostException(uri, "the RDMA device was removed", null);
      case CONNECT_ERROR ->
          new ConnectionRefusedException(
              uri,
              "this host could not complete the connection (status "
                  + event.status()
                  + "): the listener may have closed it at once; try again",
              null);
      case DISCONNECTED ->
          new ConnectionRefusedException(uri, "the listener closed the connection at once", null);
      default ->
          new ConnectionRefusedException(
              uri, "connecting failed: " + event.type() + ", status " + event.status(), null);
    };
  }

  private ConnectionRefusedException unreachable(CmEvent event) {
    return new ConnectionRefusedException(
        uri,
        "no RDMA device of this host reaches that address ("
            + event.type()
            + ", status "
            + event.status()
            + "); "
            + VerbsLibrary.denial().orElse("is it the address of an RDMA device?"),
        null);
  }
}
