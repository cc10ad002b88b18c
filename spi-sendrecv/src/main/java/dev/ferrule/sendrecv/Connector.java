// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

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
import dev.ferrule.sendrecv.wire.Hello;
import dev.ferrule.spi.Deadlines;
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
final class Connector {

  private final URI uri;
  private final RdmaAddress server;
  private final ConnectionOptions options;
  private final Mailbox mailbox = new Mailbox();
  private final long deadline;

  private Connector(URI uri, RdmaAddress server, ConnectionOptions options) {
    this.uri = uri;
    this.server = server;
    this.options = options;
    this.deadline = Deadlines.after(options.get(StandardOptions.CONNECT_TIMEOUT));
  }

  static SendRecvConnection connect(
      Supplier<VerbsLibrary> library, URI uri, ConnectionOptions options) {
    Terms.checkPayload(options.payload(), ConnectionParameters.MAX_REQUEST_DATA);
    RdmaAddress address = RdmaAddress.parse(uri);
    if (address.port() == 0) {
      throw new InvalidAddressException(uri, "nobody listens on port 0; name the listener's", null);
    }
    InetSocketAddress peer = address.resolve();
    try {
      return new Connector(uri, address, options).connect(library.get(), peer);
    } catch (VerbsException e) {
      throw Failures.of(uri, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new OperationInterruptedException(uri, "interrupted while connecting", e);
    }
  }

  private SendRecvConnection connect(VerbsLibrary library, InetSocketAddress peer)
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
    ConnectionResources resources = new ConnectionResources(fabric, id, null);
    SendRecvConnection connection = null;
    boolean done = false;
    try {
      id.resolveAddress(peer, millisLeft());
      expect(CmEvent.Type.ADDRESS_RESOLVED);
      id.setAckTimeout(options.get(SendRecvOptions.ACK_TIMEOUT));
      id.resolveRoute(millisLeft());
      expect(CmEvent.Type.ROUTE_RESOLVED);
      resources.makeQueues(options);
      boolean plain = !SendRecvOptions.isOn(options, SendRecvOptions.HELLO);
      byte[] hello =
          plain
              ? new byte[0]
              : Terms.hello(Hello.Kind.CONNECT, options, resources.receives(), options.payload());
      id.connect(Terms.parameters(hello, options));
      CmEvent answer = expect(CmEvent.Type.ESTABLISHED);
      connection = establish(resources, plain, answer);
      done = true;
      return connection;
    } finally {
      if (!done) {
        resources.close();
      }
    }
  }

  private SendRecvConnection establish(
      ConnectionResources resources, boolean plain, CmEvent answer) {
    Optional<Hello> hello = Hello.decode(answer.privateData());
    if (!plain && (hello.isEmpty() || hello.get().kind() != Hello.Kind.ACCEPT)) {
      throw new ProtocolException(
          uri,
          "what listens there is not Ferrule; if it speaks plain SEND and RECV, use hello=off",
          null);
    }
    if (!plain && hello.get().version() != Hello.VERSION) {
      throw versionMismatch(hello.get());
    }
    Terms terms = Terms.agree(options, resources, plain ? Optional.empty() : hello);
    resources.makeSendMemory(SendRecvOptions.sendMemory(options, terms.peerMaxMessage()));
    resources.queuePair().setMinRnrTimer(options.get(SendRecvOptions.MIN_RNR_TIMER));
    SendRecvConnection connection =
        new SendRecvConnection(
            server.connectionUri(Terms.nextNumber()),
            resources,
            terms.queues(),
            terms.peerMaxMessage(),
            plain ? new byte[0] : hello.get().payload(),
            options);
    connection.start(mailbox);
    return connection;
  }

  private int millisLeft() {
    return Math.clamp((deadline - System.nanoTime()) / 1_000_000, 1, Integer.MAX_VALUE);
  }

  /** Waits for an event; any other one is the end of the attempt. */
  private CmEvent expect(CmEvent.Type wanted) throws InterruptedException {
    while (true) {
      CmEvent event = mailbox.next(deadline);
      if (event == null) {
        throw new OperationTimeoutException(
            uri, "the listener did not accept in time; see the option connectTimeout", null);
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
          new ConnectionRefusedException(
              uri,
              "no RDMA device of this host reaches that address ("
                  + event.type()
                  + ", status "
                  + event.status()
                  + "); is it the address of an RDMA device?",
              null);
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

  private FerruleException rejection(CmEvent event) {
    Optional<Hello> hello = Hello.decode(event.privateData());
    if (event.status() != CmEvent.REJECTED_BY_CONSUMER || hello.isEmpty()) {
      return new ConnectionRefusedException(
          uri, "nobody listens there (rejected with the reason " + event.status() + ")", null);
    }
    Hello said = hello.get();
    String text = new String(said.payload(), StandardCharsets.UTF_8);
    if (said.version() != Hello.VERSION) {
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
            + Hello.VERSION
            + "; use the same release on both sides",
        null);
  }
}
