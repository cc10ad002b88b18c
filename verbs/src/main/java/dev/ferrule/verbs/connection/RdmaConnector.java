// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionRejectedException;
import dev.ferrule.FerruleException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.StandardOptions;
import dev.ferrule.VersionMismatchException;
import dev.ferrule.spi.Deadlines;
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
import java.nio.charset.StandardCharsets;
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
  private final long deadline;

  private RdmaConnector(
      RdmaProtocol protocol, URI uri, RdmaAddress server, ConnectionOptions options) {
    this.protocol = protocol;
    this.uri = uri;
    this.server = server;
    this.options = options;
    this.deadline = Deadlines.after(options.get(StandardOptions.CONNECT_TIMEOUT));
  }

  static RdmaConnection connect(
      RdmaProtocol protocol, Supplier<VerbsLibrary> library, URI uri, ConnectionOptions options) {
    Handshake.checkPayload(protocol, options.payload(), ConnectionParameters.MAX_REQUEST_DATA);
    RdmaAddress address = RdmaAddress.parse(uri);
    if (address.port() == 0) {
      throw new InvalidAddressException(uri, "nobody listens on port 0; name the listener's", null);
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
    ConnectionResources resources = new ConnectionResources(protocol, fabric, id, null);
    RdmaConnection connection = null;
    boolean done = false;
    try {
      id.resolveAddress(peer, millisLeft());
      expect(CmEvent.Type.ADDRESS_RESOLVED, NO_HOST);
      id.setAckTimeout(options.get(RdmaOptions.ACK_TIMEOUT));
      id.resolveRoute(millisLeft());
      expect(CmEvent.Type.ROUTE_RESOLVED, NO_ROUTE);
      resources.makeQueues(options, true);
      byte[] hello =
          Handshake.hello(Hello.Kind.CONNECT, protocol, options, resources, options.payload());
      id.connect(Handshake.request(hello, options, resources.device().attributes()));
      CmEvent answer =
          expect(
              CmEvent.Type.ESTABLISHED,
              "the listener did not accept in time; see the option connectTimeout");
      connection = establish(resources, answer);
      done = true;
      return connection;
    } finally {
      if (!done) {
        resources.close();
      }
    }
  }

  private RdmaConnection establish(ConnectionResources resources, CmEvent answer) {
    Hello hello = protocol.hasHandshake(options) ? acceptance(answer) : null;
    Agreement agreement = resources.receiveSide().agree(hello);
    resources.makeSendMemory(RdmaOptions.sendMemory(options, agreement.peerMaxMessage()));
    RdmaConnection connection =
        new RdmaConnection(
            server.connectionUri(RdmaConnection.nextNumber()),
            resources,
            agreement,
            hello,
            options);
    connection.start(connection::onConfirmed, options.get(RdmaOptions.MIN_RNR_TIMER));
    connection.heed(mailbox);
    return connection;
  }

  private Hello acceptance(CmEvent answer) {
    Optional<Hello> hello = protocol.hello().decode(answer.privateData());
    if (hello.isPresent() && hello.get().version() != protocol.hello().version()) {
      throw versionMismatch(hello.get());
    }
    if (hello.isEmpty() || hello.get().kind() != Hello.Kind.ACCEPT) {
      throw new ProtocolException(uri, protocol.texts().stranger(), null);
    }
    return hello.get();
  }

  private int millisLeft() {
    return Math.clamp((deadline - System.nanoTime()) / 1_000_000, 1, Integer.MAX_VALUE);
  }

  /**
   * Waits for an event; any other one is the end of the attempt.
   *
   * @param tooLate what to say if there is none
   */
  private CmEvent expect(CmEvent.Type wanted, String tooLate) throws InterruptedException {
    while (true) {
      CmEvent event = mailbox.next(deadline);
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
      case REJECTED -> rejection(event);
      case ADDRESS_ERROR, ROUTE_ERROR ->
          event.status() == -Errno.ETIMEDOUT
              ? new OperationTimeoutException(
                  uri, event.type() == CmEvent.Type.ADDRESS_ERROR ? NO_HOST : NO_ROUTE, null)
              : unreachable(event);
      case UNREACHABLE ->
          new ConnectionRefusedException(
              uri, "that host does not answer (status " + event.status() + ")", null);
      case DEVICE_REMOVAL -> new PeerLostException(uri, "the RDMA device was removed", null);
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

  private FerruleException rejection(CmEvent event) {
    Optional<Hello> hello = protocol.hello().decode(event.privateData());
    if (event.status() != CmEvent.REJECTED_BY_CONSUMER || hello.isEmpty()) {
      return new ConnectionRefusedException(
          uri, "nobody listens there (rejected with the reason " + event.status() + ")", null);
    }
    Hello said = hello.get();
    String text = new String(said.payload(), StandardCharsets.UTF_8);
    if (said.version() != protocol.hello().version()) {
      return versionMismatch(said);
    }
    return switch (said.kind()) {
      case REJECT -> new ConnectionRejectedException(uri, said.payload());
      case NO_ROOM ->
          new ResourceExhaustedException(uri, "the listener lacks a resource: " + text, null);
      default -> new ConnectionRefusedException(uri, text, null);
    };
  }

  private VersionMismatchException versionMismatch(Hello said) {
    return new VersionMismatchException(
        uri,
        "the listener speaks version "
            + said.version()
            + " of the protocol, and this is version "
            + protocol.hello().version()
            + "; use the same release on both sides",
        null);
  }
}
