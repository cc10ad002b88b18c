// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.FerruleException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.StandardOptions;
import dev.ferrule.sendrecv.wire.Hello;
import dev.ferrule.spi.Deadlines;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.cm.ConnectionParameters;
import dev.ferrule.verbs.endpoint.Fabric;
import java.net.URI;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A client that waits; makes the connection from the server's side. */
final class SendRecvConnectionRequest implements ConnectionRequest {

  private static final System.Logger LOGGER =
      System.getLogger(SendRecvConnectionRequest.class.getName());
  private static final int MAX_TEXT = ConnectionParameters.MAX_REJECT_DATA - Hello.SIZE;

  /** What there is to say against a client. */
  record Objection(Hello.Kind kind, String reason) {}

  /** How far the request has come. */
  private enum State {
    WAITING,
    ANSWERED,
    CANCELLED
  }

  private final SendRecvListener listener;
  private final Fabric fabric;
  private final ConnectionOptions options;
  private final boolean plain;
  private final Mailbox mailbox = new Mailbox();
  private @Nullable CmId id;
  private Optional<Hello> hello = Optional.empty();
  private State state = State.WAITING;
  private @Nullable SendRecvConnection made; // by the thread that accepts

  SendRecvConnectionRequest(SendRecvListener listener, Fabric fabric, ConnectionOptions options) {
    this.listener = listener;
    this.fabric = fabric;
    this.options = options;
    this.plain = !SendRecvOptions.isOn(options, SendRecvOptions.HELLO);
  }

  /** Takes over the client's id and what it said. */
  void begin(CmId client, byte[] privateData) {
    id = client;
    hello = Hello.decode(privateData);
    fabric.retainMore(); // the id is the fabric's
  }

  /** What there is to say against the client; null if it may be asked about. */
  @Nullable Objection objection() {
    if (plain) {
      return null;
    }
    if (hello.isEmpty() || hello.get().kind() != Hello.Kind.CONNECT) {
      return new Objection(Hello.Kind.REFUSE, "what connects does not speak this protocol");
    }
    if (hello.get().version() != Hello.VERSION) {
      return new Objection(Hello.Kind.VERSION_MISMATCH, "");
    }
    return endangersOthers()
        ? new Objection(
            Hello.Kind.REFUSE,
            "the listener shares its receive buffers (srq=on) and takes no client without credits")
        : null;
  }

  /** Whether the client would take shared buffers that the others have credit for. */
  private boolean endangersOthers() {
    return SendRecvOptions.isOn(options, SendRecvOptions.SRQ)
        && SendRecvOptions.usesCredits(options)
        && !hello.map(Hello::credits).orElse(false);
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
    } else {
      mailbox.accept(event);
    }
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
    return listener.uri();
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
    Terms.checkPayload(payload, ConnectionParameters.MAX_REJECT_DATA);
    take();
    turnAway(Hello.of(Hello.Kind.REJECT, payload));
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
    turnAway(Hello.of(kind, SendRecvListener.text(reason, MAX_TEXT)));
  }

  private void turnAway(Hello answer) {
    try {
      id().reject(answer.encode());
    } catch (VerbsException e) {
      LOGGER.log(System.Logger.Level.DEBUG, "the client has gone", e);
    } finally {
      giveUpId();
    }
  }

  @Override
  public Connection accept(byte[] payload) {
    return accept(payload, Deadlines.after(options.get(StandardOptions.CONNECT_TIMEOUT)));
  }

  /** Accepts, waiting for the client's confirmation no longer than until the deadline. */
  SendRecvConnection accept(byte[] payload, long deadline) {
    Terms.checkPayload(payload, ConnectionParameters.MAX_ACCEPT_DATA);
    take();
    URI uri = listener.uri();
    ConnectionResources resources = null;
    boolean done = false;
    try {
      resources = new ConnectionResources(fabric, id(), group());
      SendRecvConnection connection = make(resources, payload);
      awaitEstablished(uri, deadline);
      resources.queuePair().setMinRnrTimer(options.get(SendRecvOptions.MIN_RNR_TIMER));
      connection.start(mailbox);
      done = true;
      return connection;
    } catch (VerbsException e) {
      throw Failures.of(uri, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new OperationInterruptedException(uri, "interrupted while accepting", e);
    } finally {
      if (resources == null) {
        giveUpId();
      } else if (!done && made != null) {
        made.abandon();
      } else if (!done) {
        resources.close();
      }
    }
  }

  private SendRecvConnection make(ConnectionResources resources, byte[] payload) {
    CmId client = resources.id();
    try {
      resources.makeQueues(options);
      Terms terms = Terms.agree(options, resources, plain ? Optional.empty() : hello);
      resources.makeSendMemory(SendRecvOptions.sendMemory(options, terms.peerMaxMessage()));
      SendRecvConnection connection =
          new SendRecvConnection(
              listener.address().connectionUri(Terms.nextNumber()),
              resources,
              terms.queues(),
              terms.peerMaxMessage(),
              payload(),
              options);
      made = connection;
      client.setAckTimeout(options.get(SendRecvOptions.ACK_TIMEOUT));
      byte[] answer =
          plain
              ? new byte[0]
              : Terms.hello(Hello.Kind.ACCEPT, options, resources.receives(), payload);
      client.accept(Terms.parameters(answer, options));
      return connection;
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
      client.reject(Hello.of(Hello.Kind.NO_ROOM, SendRecvListener.text(text, MAX_TEXT)).encode());
    } catch (VerbsException ignored) {
      e.addSuppressed(ignored); // the client has gone just now
    }
    return Failures.of(listener.uri(), e);
  }

  private static FerruleException gone(URI uri, @Nullable Throwable cause) {
    return new ConnectionClosedException(
        uri, true, "the client has given up waiting to be accepted", cause);
  }

  private void awaitEstablished(URI uri, long deadline) throws InterruptedException {
    CmEvent event = mailbox.next(deadline);
    if (event == null) {
      throw new OperationTimeoutException(
          uri, "the client did not confirm the connection in time", null);
    }
    if (event.type() != CmEvent.Type.ESTABLISHED) {
      throw gone(uri, null);
    }
  }
}
