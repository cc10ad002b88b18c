// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.FerruleException;
import dev.ferrule.rdma.context.RdmaAddress;
import dev.ferrule.rdma.context.RdmaContext;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.cm.ConnectionParameters;
import java.net.URI;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The connect request of a waiting client. Establishes the connection on the server's side. */
final class RdmaConnectionRequest implements ConnectionRequest {

  private static final System.Logger LOGGER =
      System.getLogger(RdmaConnectionRequest.class.getName());

  /** A reason to reject a client. */
  record Objection(Hello.Kind kind, String reason) {

    /** Returns the reason of a listener that has failed. */
    static Objection to(Throwable failure) {
      return new Objection(
          failure instanceof OutOfMemoryError ? Hello.Kind.NO_ROOM : Hello.Kind.REFUSE,
          reason(failure));
    }

    private static String reason(Throwable failure) {
      return failure instanceof VerbsException || failure instanceof FerruleException
          ? String.valueOf(failure.getMessage())
          : "the listener failed: " + failure;
    }
  }

  /**
   * The reason sent to a client without a valid hello. It fits into every protocol's private data.
   */
  static final String STRANGER = "the client does not speak this protocol";

  /** The state of the request. */
  private enum State {
    WAITING,
    ANSWERED,
    CANCELLED
  }

  private final RdmaProtocol protocol;
  private final RdmaListener listener;
  private final RdmaContext rdmaContext;
  private final ResolvedOptions options;
  private final Mailbox mailbox = new Mailbox();
  private @Nullable CmId id;
  private Optional<Hello> hello = Optional.empty();
  private Optional<URI> peer = Optional.empty();
  private State state = State.WAITING;

  // Used by the accepting thread.
  private @Nullable RdmaConnectionResources resources;
  private boolean acceptanceSent;
  private volatile @Nullable AcceptedClient made; // also read by the event loop

  RdmaConnectionRequest(
      RdmaProtocol protocol,
      RdmaListener listener,
      RdmaContext rdmaContext,
      ResolvedOptions options) {
    this.protocol = protocol;
    this.listener = listener;
    this.rdmaContext = rdmaContext;
    this.options = options;
  }

  /** Takes ownership of the client's id. */
  void own(CmId client) {
    id = client;
    rdmaContext.retainMore(); // the id uses the context
  }

  /** Reads what the client has sent. */
  void read(byte[] privateData) {
    hello = protocol.hello().decode(privateData);
    peer = id().peerAddress().map(listener.address()::at).map(RdmaAddress::uri);
  }

  /** Returns the reason to reject the client; null if the program decides. */
  @Nullable Objection objection() {
    if (!protocol.hasHandshake(options)) {
      return null;
    }
    if (hello.isPresent() && hello.get().version() != protocol.hello().version()) {
      return new Objection(Hello.Kind.VERSION_MISMATCH, "");
    }
    if (hello.isEmpty() || hello.get().kind() != Hello.Kind.CONNECT) {
      return new Objection(Hello.Kind.REFUSE, STRANGER);
    }
    String reason = protocol.objection(options, hello.get());
    return reason == null ? null : new Objection(Hello.Kind.REFUSE, reason);
  }

  /** Called by the event loop. */
  void onEvent(CmEvent event) {
    boolean gone;
    synchronized (this) {
      gone = state == State.WAITING && event.type() != CmEvent.Type.ESTABLISHED;
      if (gone) {
        state = State.CANCELLED;
      }
    }
    if (gone) {
      listener.forget(this);
      giveUpId();
      return;
    }
    AcceptedClient client = made;
    boolean hasGivenUp = client != null && client.onEvent(event);
    mailbox.accept(event);
    listener.onClientEvent(hasGivenUp ? client : null);
  }

  private void giveUpId() {
    rdmaContext.destroy(id());
    rdmaContext.release();
  }

  private CmId id() {
    CmId known = id;
    if (known == null) {
      throw new IllegalStateException("the request has not begun");
    }
    return known;
  }

  @Override
  public byte[] payload() {
    return hello.map(it -> it.payload().clone()).orElse(new byte[0]);
  }

  @Override
  public URI peer() {
    return peer.orElse(listener.uri());
  }

  /** Returns the local address to which the client connected. */
  private RdmaAddress localAddress() {
    RdmaAddress own = listener.address();
    return own.isWildcard() ? id().localAddress().map(own::at).orElse(own) : own;
  }

  /** Claims the request: only this thread may answer it. */
  private void take() {
    synchronized (this) {
      if (state == State.CANCELLED) {
        throw gone(listener.uri(), null);
      }
      if (listener.isClosed()) {
        throw listener.closed();
      }
      if (state == State.ANSWERED) {
        throw new IllegalStateException("the connection request was answered already");
      }
      state = State.ANSWERED;
    }
    listener.forget(this);
  }

  @Override
  public void reject(byte[] payload) {
    Handshake.checkPayload(
        listener.uri(), protocol, options, payload, ConnectionParameters.MAX_REJECT_DATA);
    take();
    sendRejection(protocol.hello().encode(Hello.Kind.REJECT, payload));
  }

  /**
   * Rejects the client for a reason other than the program's. No effect if the request has been
   * answered.
   */
  void refuse(Objection objection) {
    synchronized (this) {
      if (state != State.WAITING) {
        return;
      }
      state = State.ANSWERED;
    }
    sendRejection(Handshake.refusal(protocol, objection.kind(), objection.reason()));
  }

  private void sendRejection(byte[] answer) {
    try {
      id().reject(answer);
    } catch (VerbsException e) {
      LOGGER.log(System.Logger.Level.DEBUG, "the client is gone", e);
    } finally {
      giveUpId();
    }
  }

  @Override
  public Connection accept(byte[] payload) {
    return answer(payload).confirmed();
  }

  /**
   * Accepts the client, without waiting for its confirmation. The client has connectTimeout to
   * confirm. The time starts when the acceptance is sent: creating the resources before that may
   * take longer than the timeout.
   */
  AcceptedClient answer(byte[] payload) {
    Handshake.checkPayload(
        listener.uri(), protocol, options, payload, ConnectionParameters.MAX_ACCEPT_DATA);
    take();
    boolean done = false;
    try {
      RdmaConnectionResources parts =
          new RdmaConnectionResources(protocol, rdmaContext, id(), listener.groups().group(id()));
      resources = parts;
      AcceptedClient client = make(parts, payload);
      client.startTimeout(options.get(RdmaOptions.CONNECT_TIMEOUT));
      done = true;
      return client;
    } catch (VerbsException e) {
      throw acceptanceSent ? RdmaFailures.of(listener.uri(), e) : outOfResources(e);
    } catch (OutOfMemoryError e) {
      FerruleException failure = RdmaFailures.of(listener.uri(), e);
      turnAway(Hello.Kind.NO_ROOM, failure);
      throw failure;
    } catch (RuntimeException | Error e) {
      turnAway(Hello.Kind.REFUSE, e);
      throw e;
    } finally {
      if (!done) {
        giveUp();
      }
    }
  }

  /** Rejects the client, unless the acceptance has been sent or the client is gone. */
  private void turnAway(Hello.Kind kind, Throwable failure) {
    if (!acceptanceSent && id().isAcceptable()) {
      reject(kind, failure);
    }
  }

  private void reject(Hello.Kind kind, Throwable failure) {
    try {
      id().reject(Handshake.refusal(protocol, kind, Objection.reason(failure)));
    } catch (VerbsException e) {
      failure.addSuppressed(e); // the client has disconnected
    }
  }

  /** Rejects the client because a resource is exhausted; returns the exception for the program. */
  private FerruleException outOfResources(VerbsException e) {
    if (!id().isAcceptable()) {
      return gone(listener.uri(), e);
    }
    reject(Hello.Kind.NO_ROOM, e);
    return RdmaFailures.of(listener.uri(), e);
  }

  /** Releases an answered request and its resources. */
  private void giveUp() {
    AcceptedClient client = made;
    if (client != null) {
      client.giveUp();
    } else if (resources != null) {
      resources.close();
    } else {
      giveUpId();
    }
  }

  private AcceptedClient make(RdmaConnectionResources resources, byte[] payload) {
    resources.makeQueues(options, false);
    Hello client = protocol.hasHandshake(options) ? hello.orElseThrow() : null;
    Agreement agreement = resources.receiveSide().agree(client);
    resources.makeSendMemory(RdmaOptions.sendMemoryForClient(options, agreement.peerMaxMessage()));
    RdmaConnection connection =
        new RdmaConnection(localAddress(), resources, agreement, client, options);
    AcceptedClient accepted = new AcceptedClient(listener, rdmaContext, connection, mailbox);
    made = accepted;
    resources.id().setAckTimeout(RdmaOptions.ackTimeout(options, protocol.hasHandshake(options)));
    byte[] answer = Handshake.hello(Hello.Kind.ACCEPT, protocol, options, resources, payload);
    connection.start(() -> sendAcceptance(answer), options.get(RdmaOptions.MIN_RNR_TIMER));
    return accepted;
  }

  private void sendAcceptance(byte[] answer) {
    ConnectionParameters parameters = Handshake.grant(answer, options);
    acceptanceSent = true;
    try {
      id().accept(parameters);
    } catch (VerbsException e) {
      throw outOfResources(e);
    }
  }

  /** Returns the exception for a client that has given up. */
  static FerruleException gone(URI uri, @Nullable Throwable cause) {
    return new ConnectionClosedException(
        uri, true, "the client stopped waiting to be accepted", cause);
  }
}
