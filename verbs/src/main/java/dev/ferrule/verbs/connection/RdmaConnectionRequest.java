// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.FerruleException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.cm.ConnectionParameters;
import dev.ferrule.verbs.endpoint.Fabric;
import dev.ferrule.verbs.endpoint.RdmaAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A client that waits; makes the connection from the server's side. */
final class RdmaConnectionRequest implements ConnectionRequest {

  private static final System.Logger LOGGER =
      System.getLogger(RdmaConnectionRequest.class.getName());

  /** How often a thread that waits for a client to confirm looks for other signs of it. */
  private static final long SIGN_CHECK_NANOS = 100_000_000;

  /** How long a client may take to confirm while others cannot be accepted because of it. */
  static final long HURRIED_NANOS = 5_000_000_000L;

  /** What there is to say against a client. */
  record Objection(Hello.Kind kind, String reason) {}

  /** How far the request has come. */
  private enum State {
    WAITING,
    ANSWERED,
    CANCELLED
  }

  private final RdmaProtocol protocol;
  private final RdmaListener listener;
  private final Fabric fabric;
  private final ConnectionOptions options;
  private final Mailbox mailbox = new Mailbox();
  private @Nullable CmId id;
  private Optional<Hello> hello = Optional.empty();
  private Optional<URI> peer = Optional.empty();
  private State state = State.WAITING;

  // Of the thread that accepts; another one's only with the listener's lock in between.
  private long acceptedAt; // by System.nanoTime
  private long patienceNanos;
  private @Nullable ConnectionResources resources;
  private volatile @Nullable RdmaConnection made; // for the fabric's thread, too

  RdmaConnectionRequest(
      RdmaProtocol protocol, RdmaListener listener, Fabric fabric, ConnectionOptions options) {
    this.protocol = protocol;
    this.listener = listener;
    this.fabric = fabric;
    this.options = options;
  }

  /** Takes over the client's id and what it said. */
  void begin(CmId client, byte[] privateData) {
    id = client;
    hello = protocol.hello().decode(privateData);
    peer = client.peerAddress().map(listener.address()::at).map(RdmaAddress::uri);
    fabric.retainMore(); // the id is the fabric's
  }

  /** What there is to say against the client; null if it may be asked about. */
  @Nullable Objection objection() {
    if (!protocol.hasHandshake(options)) {
      return null;
    }
    if (hello.isPresent() && hello.get().version() != protocol.hello().version()) {
      return new Objection(Hello.Kind.VERSION_MISMATCH, "");
    }
    if (hello.isEmpty() || hello.get().kind() != Hello.Kind.CONNECT) {
      return new Objection(Hello.Kind.REFUSE, "what connects does not speak this protocol");
    }
    String reason = protocol.objection(options, hello.get());
    return reason == null ? null : new Objection(Hello.Kind.REFUSE, reason);
  }

  /** Called by the fabric's thread. */
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
      connection.drain(); // its confirmation may be lost, and its messages be there all the same
      hasGivenUp = !hasEndedWell(connection) && !isAlive(event, connection);
    }
    mailbox.accept(event);
    listener.clientHeard(this, hasGivenUp);
  }

  private void giveUpId() {
    fabric.destroy(id());
    fabric.release();
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

  /** The address of this host that the client came by. */
  private RdmaAddress localAddress() {
    RdmaAddress own = listener.address();
    return own.isWildcard() ? id().localAddress().map(own::at).orElse(own) : own;
  }

  /** Takes the request for this thread to answer. */
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
    turnAway(protocol.hello().encode(Hello.Kind.REJECT, payload));
  }

  /**
   * Turns the client away for a reason that is not the program's; does nothing if it is answered.
   */
  void refuse(Hello.Kind kind, String reason) {
    synchronized (this) {
      if (state != State.WAITING) {
        return;
      }
      state = State.ANSWERED;
    }
    turnAway(Handshake.refusal(protocol, kind, reason));
  }

  private void turnAway(byte[] answer) {
    try {
      id().reject(answer);
    } catch (VerbsException e) {
      LOGGER.log(System.Logger.Level.DEBUG, "the client has gone", e);
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
   * Accepts, without waiting for the client to confirm. It has connectTimeout for that, from when
   * the acceptance is sent: what is made for it before may take longer than that.
   */
  void answer(byte[] payload) {
    Handshake.checkPayload(protocol, payload, ConnectionParameters.MAX_ACCEPT_DATA);
    take();
    boolean done = false;
    try {
      ConnectionResources parts = new ConnectionResources(protocol, fabric, id(), group());
      resources = parts;
      make(parts, payload);
      patienceNanos = options.get(RdmaOptions.CONNECT_TIMEOUT).toNanos();
      acceptedAt = System.nanoTime();
      done = true;
    } catch (VerbsException e) {
      throw RdmaFailures.of(listener.uri(), e);
    } finally {
      if (!done) {
        giveUp();
      }
    }
  }

  /** From when on others are accepted beside this one. */
  long overdueAt() {
    return acceptedAt + RdmaListener.OVERDUE_NANOS;
  }

  /** Until when the client has to confirm, once it is accepted; by System.nanoTime. */
  long deadline() {
    return acceptedAt + patienceNanos;
  }

  /** Others cannot be accepted because of this one. Under the listener's lock. */
  void hurry() {
    patienceNanos = Math.min(patienceNanos, HURRIED_NANOS);
  }

  /** Whether it was accepted, so that it is for {@link #confirmed}. */
  boolean isAccepted() {
    return made != null;
  }

  /** Returns whether {@link #confirmed} does not wait. */
  boolean isSettled() {
    RdmaConnection connection = made;
    return !mailbox.isEmpty()
        || isOverdueForGood()
        || (connection != null && (connection.hasEnded() || connection.isHeardOf()));
  }

  /** Returns whether the time to confirm is over, though the client may have confirmed. */
  boolean isOverdueForGood() {
    return deadline() - System.nanoTime() <= 0;
  }

  /**
   * Returns whether nothing at all has been heard of the client. To be called by the fabric's
   * thread, which has taken all events.
   */
  boolean isSilent() {
    RdmaConnection connection = made;
    return mailbox.isEmpty()
        && (connection == null || !(connection.isHeardOf() || hasEndedWell(connection)));
  }

  /** Takes in what has come, since the confirmation may be lost. Not under a lock. */
  void drain() {
    RdmaConnection connection = made;
    if (connection != null) {
      connection.drain();
    }
  }

  /** Waits for the client to confirm. To be called once. */
  RdmaConnection confirmed() {
    URI uri = listener.uri();
    RdmaConnection connection = made;
    if (connection == null) {
      throw new IllegalStateException("the request was not accepted");
    }
    boolean done = false;
    try {
      awaitSign(uri, connection);
      connection.heed(mailbox);
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

  /** Tells a client that was accepted, and that no program has seen, that this was it. */
  void dismiss() {
    RdmaConnection connection = made;
    if (connection == null) {
      giveUp();
    } else {
      connection.close(Duration.ZERO);
    }
  }

  /** Gives up a client that is answered, with what was made for it. */
  void giveUp() {
    RdmaConnection connection = made;
    if (connection != null) {
      connection.abandon(
          "the client has gone before it confirmed the connection, or did not do so in time");
    } else if (resources != null) {
      resources.close();
    } else {
      giveUpId();
    }
  }

  private void make(ConnectionResources resources, byte[] payload) {
    RdmaConnection connection;
    byte[] answer;
    try {
      resources.makeQueues(options, false);
      ReceiveSide side = resources.receiveSide();
      Hello client = protocol.hasHandshake(options) ? hello.orElseThrow() : null;
      Agreement agreement = side.agree(client);
      resources.makeSendMemory(RdmaOptions.sendMemory(options, agreement.peerMaxMessage()));
      connection =
          new RdmaConnection(
              localAddress().connectionUri(RdmaConnection.nextNumber()),
              resources,
              agreement,
              client,
              options);
      made = connection;
      resources.id().setAckTimeout(RdmaOptions.ackTimeout(options, protocol.hasHandshake(options)));
      answer = Handshake.hello(Hello.Kind.ACCEPT, protocol, options, resources, payload);
    } catch (VerbsException e) {
      throw noRoom(e);
    }
    connection.start(() -> tellAccepted(answer), options.get(RdmaOptions.MIN_RNR_TIMER));
  }

  private void tellAccepted(byte[] answer) {
    try {
      id().accept(Handshake.grant(answer, options));
    } catch (VerbsException e) {
      throw noRoom(e);
    }
  }

  private @Nullable ReceiveGroup group() {
    try {
      return listener.group(id());
    } catch (VerbsException e) {
      throw noRoom(e);
    }
  }

  /** Tells the client what this side lacks; returns what to tell the program. */
  private FerruleException noRoom(VerbsException e) {
    CmId client = id();
    if (!client.isAcceptable()) {
      return gone(listener.uri(), e);
    }
    String text = String.valueOf(e.getMessage());
    try {
      client.reject(Handshake.refusal(protocol, Hello.Kind.NO_ROOM, text));
    } catch (VerbsException ignored) {
      e.addSuppressed(ignored); // the client has gone just now
    }
    return RdmaFailures.of(listener.uri(), e);
  }

  private static FerruleException gone(URI uri, @Nullable Throwable cause) {
    return new ConnectionClosedException(
        uri, true, "the client has given up waiting to be accepted", cause);
  }

  /** Whether either side has closed it: they did so by its messages, so it has been open. */
  private static boolean hasEndedWell(RdmaConnection connection) {
    return connection.hasEnded() && connection.failure() == null;
  }

  /**
   * Waits for a sign of the client: its confirmation, a message, or the end of the connection,
   * which the receiver of all connections may have found before. What was there in time counts,
   * whenever this is called, and though the thread that brings it had no processor since.
   */
  private void awaitSign(URI uri, RdmaConnection connection) throws InterruptedException {
    CmEvent event = mailbox.next(0);
    while (event == null && !connection.hasEnded() && !connection.isHeardOf()) {
      long left = deadline() - System.nanoTime(); // before the look
      event = left > 0 ? mailbox.next(Math.min(left, SIGN_CHECK_NANOS)) : mailbox.last(fabric);
      if (event == null) {
        connection.drain(); // the confirmation may be lost, and messages be there all the same
        if (left <= 0 && !connection.hasEnded() && !connection.isHeardOf()) {
          throw new OperationTimeoutException(
              uri, "the client did not confirm the connection in time", null);
        }
      }
    }
    if (event == null ? !connection.hasEnded() : isAlive(event, connection)) {
      connection.onConfirmed();
    } else if (!hasEndedWell(connection)) {
      throw gone(uri, connection.failure());
    }
  }

  /** Its messages confirm a connection as well; the connection manager does not know of them. */
  private static boolean isAlive(CmEvent event, RdmaConnection connection) {
    return event.type() == CmEvent.Type.ESTABLISHED
        || (event.type() == CmEvent.Type.UNREACHABLE && connection.isHeardOf());
  }
}
