// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.FerruleException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.rdma.context.RdmaAddress;
import dev.ferrule.rdma.context.RdmaContext;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.cm.ConnectionParameters;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A connect request of a waiting client; establishes the connection on the server's side. */
final class RdmaConnectionRequest implements ConnectionRequest {

  private static final System.Logger LOGGER =
      System.getLogger(RdmaConnectionRequest.class.getName());

  /** How often a thread that waits for a confirmation polls for messages of the client. */
  private static final long SIGN_CHECK_NANOS = 100_000_000;

  /** The time to confirm for a client that blocks the acceptance of others. */
  static final long SHORT_CONFIRM_NANOS = 5_000_000_000L;

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

  /** The reason sent to a client without a valid hello; it fits as those of the listener do. */
  static final String STRANGER = "connection refused: the client does not speak this protocol";

  /** The state of the request. */
  private enum State {
    WAITING,
    ANSWERED,
    CANCELLED
  }

  private final RdmaProtocol protocol;
  private final RdmaListener listener;
  private final RdmaContext rdmaContext;
  private final ConnectionOptions options;
  private final Mailbox mailbox = new Mailbox();
  private @Nullable CmId id;
  private Optional<Hello> hello = Optional.empty();
  private Optional<URI> peer = Optional.empty();
  private State state = State.WAITING;

  // Used by the accepting thread; handed over to another one only under the listener's lock.
  private long acceptedAt; // by the listener's clock
  private long patienceNanos;
  private @Nullable RdmaConnectionResources resources;
  private boolean acceptanceSent;
  private boolean rejected;
  private volatile @Nullable RdmaConnection made; // also read by the event loop

  RdmaConnectionRequest(
      RdmaProtocol protocol,
      RdmaListener listener,
      RdmaContext rdmaContext,
      ConnectionOptions options) {
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

  /** Returns a reason to reject the client; null if the program may decide. */
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
    RdmaConnection connection = made;
    if (connection != null && event.type() == CmEvent.Type.ESTABLISHED) {
      connection.onConfirmed();
    }
    boolean hasGivenUp = mailbox.isEmpty() && event.type() != CmEvent.Type.ESTABLISHED;
    if (hasGivenUp && connection != null) {
      connection.drain(); // the confirmation may be lost although messages have arrived
      hasGivenUp = !hasEndedWell(connection) && !isAlive(event, connection);
    }
    mailbox.accept(event);
    listener.onClientEvent(this, hasGivenUp);
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

  /** Claims the request, for this thread to answer. */
  private void take() {
    synchronized (this) {
      if (state == State.CANCELLED) {
        throw gone(listener.uri(), null);
      }
      if (listener.isClosed()) {
        throw new ConnectionClosedException(listener.uri(), false, "the listener was closed", null);
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
    Handshake.checkPayload(protocol, payload, ConnectionParameters.MAX_REJECT_DATA);
    take();
    sendRejection(protocol.hello().encode(Hello.Kind.REJECT, payload));
  }

  /**
   * Rejects the client for a reason other than the program's; no effect if it has been answered.
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
    answer(payload);
    return confirmed();
  }

  /**
   * Accepts, without waiting for the client's confirmation. The client has connectTimeout for it,
   * from the time that the acceptance is sent: creating the resources before may take longer than
   * that.
   */
  void answer(byte[] payload) {
    Handshake.checkPayload(protocol, payload, ConnectionParameters.MAX_ACCEPT_DATA);
    take();
    boolean done = false;
    try {
      RdmaConnectionResources parts =
          new RdmaConnectionResources(protocol, rdmaContext, id(), group());
      resources = parts;
      make(parts, payload);
      patienceNanos = options.get(RdmaOptions.CONNECT_TIMEOUT).toNanos();
      acceptedAt = listener.now();
      done = true;
    } catch (VerbsException e) {
      throw RdmaFailures.of(listener.uri(), e);
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

  /** Rejects the client, unless the acceptance is already sent or the client is gone. */
  private void turnAway(Hello.Kind kind, Throwable failure) {
    CmId client = id();
    if (!acceptanceSent && !rejected && client.isAcceptable()) {
      reject(client, kind, failure);
    }
  }

  private void reject(CmId client, Hello.Kind kind, Throwable failure) {
    rejected = true;
    try {
      client.reject(Handshake.refusal(protocol, kind, Objection.reason(failure)));
    } catch (VerbsException e) {
      failure.addSuppressed(e); // the client has disconnected meanwhile
    }
  }

  /** Returns the time from which other requests are accepted concurrently. */
  long overdueAt() {
    return acceptedAt + RdmaListener.OVERDUE_NANOS;
  }

  /** Returns the deadline of the client's confirmation, by the listener's clock. */
  long deadline() {
    return acceptedAt + patienceNanos;
  }

  /** Shortens the time to confirm, as this request blocks others. Under the listener's lock. */
  void shortenTimeout() {
    patienceNanos = Math.min(patienceNanos, SHORT_CONFIRM_NANOS);
  }

  /** Returns whether it was accepted, so that {@link #confirmed} is the next step. */
  boolean isAccepted() {
    return made != null;
  }

  /** Returns whether {@link #confirmed} would not wait. */
  boolean isDecided() {
    RdmaConnection connection = made;
    return !mailbox.isEmpty()
        || isExpired()
        || (connection != null && (connection.hasEnded() || connection.hasReceived()));
  }

  /** Returns whether the time to confirm is over; the client may have confirmed nevertheless. */
  boolean isExpired() {
    return deadline() - listener.now() <= 0;
  }

  /**
   * Returns whether the client has sent neither a confirmation nor a message. To be called by the
   * event loop after it has dispatched all events.
   */
  boolean isSilent() {
    RdmaConnection connection = made;
    return mailbox.isEmpty()
        && (connection == null || !(connection.hasReceived() || hasEndedWell(connection)));
  }

  /** Polls for messages, since the confirmation may be lost. Not under a lock. */
  void drain() {
    RdmaConnection connection = made;
    if (connection != null) {
      connection.drain();
    }
  }

  /** Waits for the client's confirmation. To be called once. */
  RdmaConnection confirmed() {
    URI uri = listener.uri();
    RdmaConnection connection = made;
    if (connection == null) {
      throw new IllegalStateException("the request was not accepted");
    }
    boolean done = false;
    try {
      awaitSign(uri, connection);
      connection.handleEvents(mailbox);
      done = true;
      return connection;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new OperationInterruptedException(uri, "interrupted while accepting", e);
    } finally {
      if (!done) {
        giveUp();
      }
    }
  }

  /** Closes the connection of a client that was accepted but not returned to the program. */
  void dismiss() {
    RdmaConnection connection = made;
    if (connection == null) {
      giveUp();
    } else {
      connection.close(Duration.ZERO);
    }
  }

  /** Releases an answered request and its resources. */
  void giveUp() {
    RdmaConnection connection = made;
    if (connection != null) {
      connection.abandon(
          "the client disconnected before it confirmed the connection, or did not confirm in time");
    } else if (resources != null) {
      resources.close();
    } else {
      giveUpId();
    }
  }

  private void make(RdmaConnectionResources resources, byte[] payload) {
    RdmaConnection connection;
    byte[] answer;
    try {
      resources.makeQueues(options, false);
      ReceiveSide side = resources.receiveSide();
      Hello client = protocol.hasHandshake(options) ? hello.orElseThrow() : null;
      Agreement agreement = side.agree(client);
      resources.makeSendMemory(
          RdmaOptions.sendMemoryForClient(options, agreement.peerMaxMessage()));
      connection = new RdmaConnection(localAddress(), resources, agreement, client, options);
      made = connection;
      resources.id().setAckTimeout(RdmaOptions.ackTimeout(options, protocol.hasHandshake(options)));
      answer = Handshake.hello(Hello.Kind.ACCEPT, protocol, options, resources, payload);
    } catch (VerbsException e) {
      throw outOfResources(e);
    }
    connection.start(() -> sendAcceptance(answer), options.get(RdmaOptions.MIN_RNR_TIMER));
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

  private @Nullable ReceiveGroup group() {
    try {
      return listener.group(id());
    } catch (VerbsException e) {
      throw outOfResources(e);
    }
  }

  /** Rejects the client because a resource is exhausted; returns the exception for the program. */
  private FerruleException outOfResources(VerbsException e) {
    CmId client = id();
    if (!client.isAcceptable()) {
      return gone(listener.uri(), e);
    }
    reject(client, Hello.Kind.NO_ROOM, e);
    return RdmaFailures.of(listener.uri(), e);
  }

  private static FerruleException gone(URI uri, @Nullable Throwable cause) {
    return new ConnectionClosedException(
        uri, true, "the client stopped waiting to be accepted", cause);
  }

  /**
   * Returns whether either side has closed it. A close is a message, so the connection was open.
   */
  private static boolean hasEndedWell(RdmaConnection connection) {
    return connection.hasEnded() && connection.failure() == null;
  }

  /**
   * Waits for the client's confirmation, a message, or the end of the connection, which the
   * receiver of all connections may have found before. Whatever arrived in time counts, even if
   * this method is called later or the event loop was not scheduled since.
   */
  private void awaitSign(URI uri, RdmaConnection connection) throws InterruptedException {
    CmEvent event = mailbox.next(0);
    while (event == null && !connection.hasEnded() && !connection.hasReceived()) {
      long left = deadline() - listener.now(); // read before polling
      event = left > 0 ? mailbox.next(Math.min(left, SIGN_CHECK_NANOS)) : mailbox.last(rdmaContext);
      if (event == null) {
        connection.drain(); // the confirmation may be lost although messages have arrived
        if (left <= 0 && !connection.hasEnded() && !connection.hasReceived()) {
          throw new OperationTimeoutException(
              uri, "accept timed out: the client did not confirm the connection", null);
        }
      }
    }
    if (event == null ? !connection.hasEnded() : isAlive(event, connection)) {
      connection.onConfirmed();
    } else if (!hasEndedWell(connection)) {
      throw gone(uri, connection.failure());
    }
  }

  /** Messages confirm a connection as well, but the connection manager does not see them. */
  private static boolean isAlive(CmEvent event, RdmaConnection connection) {
    return event.type() == CmEvent.Type.ESTABLISHED
        || (event.type() == CmEvent.Type.UNREACHABLE && connection.hasReceived());
  }
}
