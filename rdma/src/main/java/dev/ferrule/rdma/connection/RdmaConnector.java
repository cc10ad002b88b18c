// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.FerruleException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.posix.Errno;
import dev.ferrule.rdma.context.RdmaAddress;
import dev.ferrule.rdma.context.RdmaContext;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.VerbsLibrary;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.cm.ConnectionParameters;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Optional;
import java.util.function.Supplier;

/** Establishes a connection on the client's side. */
final class RdmaConnector {

  private static final String NO_HOST =
      "timed out resolving the address: no host has answered (ARP); check ip neighbour and ping";

  private static final String NO_ROUTE =
      "timed out resolving the route to that host: check ip route and the configuration of the network";

  private final RdmaProtocol protocol;
  private final URI uri;
  private final RdmaAddress server;
  private final ResolvedOptions options;
  private final Mailbox mailbox = new Mailbox();

  private RdmaConnector(
      RdmaProtocol protocol, URI uri, RdmaAddress server, ResolvedOptions options) {
    this.protocol = protocol;
    this.uri = uri;
    this.server = server;
    this.options = options;
  }

  static RdmaConnection connect(
      RdmaProtocol protocol, Supplier<VerbsLibrary> library, URI uri, ResolvedOptions options) {
    Handshake.checkPayload(
        uri, protocol, options, options.payload(), ConnectionParameters.MAX_REQUEST_DATA);
    RdmaAddress address = RdmaAddress.parse(uri);
    if (address.port() == 0) {
      throw new InvalidAddressException(
          uri, "invalid port 0: no listener has it; write the listener's port", null);
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
    RdmaContext rdmaContext = RdmaContext.retain(library);
    CmId id;
    try {
      id = rdmaContext.createId(mailbox);
    } catch (Throwable e) {
      rdmaContext.release();
      throw e;
    }
    ConnectTimeLeft timeLeft = new ConnectTimeLeft(mailbox, rdmaContext, options);
    RdmaConnectionResources resources =
        new RdmaConnectionResources(protocol, rdmaContext, id, null);
    RdmaConnection connection;
    try {
      id.resolveAddress(peer, timeLeft.millisLeft());
      expect(timeLeft, CmEvent.Type.ADDRESS_RESOLVED, NO_HOST);
      id.setAckTimeout(RdmaOptions.ackTimeout(options, protocol.hasHandshake(options)));
      id.resolveRoute(timeLeft.millisLeft());
      expect(timeLeft, CmEvent.Type.ROUTE_RESOLVED, NO_ROUTE);
      resources.makeQueues(options, true);
      byte[] hello =
          Handshake.hello(Hello.Kind.CONNECT, protocol, options, resources, options.payload());
      id.connect(Handshake.request(hello, options, resources.device().attributes()));
      CmEvent answer =
          expect(
              timeLeft,
              CmEvent.Type.ESTABLISHED,
              "connect timed out: the listener has not accepted within connectTimeout (raise it, or"
                  + " call accept() more often at the listener)");
      connection = make(resources, answer);
    } catch (Throwable e) {
      resources.close();
      throw e;
    }
    start(connection); // the connection owns the resources from here on
    return connection;
  }

  private RdmaConnection make(RdmaConnectionResources resources, CmEvent answer) {
    Hello hello = protocol.hasHandshake(options) ? acceptance(answer) : null;
    Agreement agreement = resources.receiveSide().agree(hello);
    resources.makeSendMemory(RdmaOptions.sendMemory(options, agreement.peerMaxMessage()));
    return new RdmaConnection(server, resources, agreement, hello, options);
  }

  /**
   * Starts a connection, or releases it if that fails. From here on, events of the device may end
   * the connection.
   */
  private void start(RdmaConnection connection) {
    try {
      connection.start(connection::onConfirmed, options.get(RdmaOptions.MIN_RNR_TIMER));
      connection.handleEvents(mailbox);
    } catch (Throwable e) {
      connection.abandon("the connection could not be completed");
      throw e;
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
   * Waits for an event; throws if the attempt fails or the wait times out.
   *
   * @param timedOut the message if the wait times out
   */
  private CmEvent expect(ConnectTimeLeft timeLeft, CmEvent.Type expected, String timedOut)
      throws InterruptedException {
    while (true) {
      CmEvent event = timeLeft.next();
      if (event == null) {
        throw new OperationTimeoutException(uri, timedOut, null);
      }
      if (event.type() == expected) {
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
              uri,
              "connection refused: that host does not answer (status "
                  + event.status()
                  + "); check that it is up, and the link to it",
              null);
      case DEVICE_REMOVAL -> new PeerLostException(uri, "the RDMA device was removed", null);
      case CONNECT_ERROR ->
          new ConnectionRefusedException(
              uri,
              "connection refused: this host could not complete the connection (status "
                  + event.status()
                  + "); the listener may have closed it at once: try again",
              null);
      case DISCONNECTED ->
          new ConnectionRefusedException(
              uri,
              "connection refused: the listener closed the connection at once; try again",
              null);
      default ->
          new ConnectionRefusedException(
              uri, "connection refused: " + event.type() + ", status " + event.status(), null);
    };
  }

  private ConnectionRefusedException unreachable(CmEvent event) {
    return new ConnectionRefusedException(
        uri,
        "connection refused: no RDMA device of this host reaches that address ("
            + event.type()
            + ", status "
            + event.status()
            + "): "
            + VerbsLibrary.denial().orElse("check that it is the address of an RDMA device"),
        null);
  }
}
