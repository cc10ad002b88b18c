// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.ConnectionClosedException;
import dev.ferrule.FerruleException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.posix.Errno;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.sm.endpoint.HandshakeMessage.Type;
import java.net.URI;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The server's side of one handshake. ACCEPT is repeated until an ACK arrives; REJECT and REFUSE
 * are repeated for each CONNECT. The endpoint's thread repeats ACCEPT and watches the deadline, so
 * a client that does not answer blocks no thread of the program.
 */
public final class ServerHandshake implements WaitingClients.Request {

  private enum State {
    WAITING,
    /** A thread creates the connection's resources. */
    TAKEN,
    /** ACCEPT was sent. */
    OFFERED,
    CONFIRMED,
    REFUSED,
    FAILED
  }

  private enum Failure {
    CANCELLED,
    TIMED_OUT,
    GONE,
    BROKEN
  }

  private final Acceptor acceptor;
  private final Endpoint endpoint;
  private final Acceptor.Key key;
  private final long generation;
  private final byte[] payload;
  private final PassedMemory memory;

  private State state = State.WAITING;
  private boolean isUntaken; // whether it was refused before any thread took it
  private Failure failure = Failure.CANCELLED; // valid in state FAILED
  private @Nullable FerruleException cause; // valid if the failure is BROKEN
  private @Nullable HandshakeMessage answer;
  private @Nullable SealedFile answerFile; // passed with the answer
  private int serverId;
  private long retransmissions;

  // of an offer
  private Backoff backoff = new Backoff(0);
  private long repeatAt;
  private BooleanSupplier used = () -> false;
  private boolean checkingUse; // whether wasUsed is running, which may end the connection
  private Runnable resolved = () -> {};

  ServerHandshake(
      Acceptor acceptor,
      Endpoint endpoint,
      Acceptor.Key key,
      long generation,
      byte[] payload,
      PassedMemory memory) {
    this.memory = memory;
    this.acceptor = acceptor;
    this.endpoint = endpoint;
    this.key = key;
    this.generation = generation;
    this.payload = payload;
  }

  Acceptor.Key key() {
    return key;
  }

  /** {@return the generation of the client's ring} */
  public long generation() {
    return generation;
  }

  @Override
  public SmAddress client() {
    return key.client();
  }

  @Override
  public int user() {
    return memory.sender().uid();
  }

  /** {@return the connection's number at the client's endpoint} */
  public int clientId() {
    return key.clientId();
  }

  /**
   * {@return the memory from which the client receives} The thread that {@linkplain #take takes}
   * the request closes it.
   */
  public PassedMemory memory() {
    return memory;
  }

  /** {@return the payload of the client's program} */
  public byte[] payload() {
    return payload.clone();
  }

  /** {@return how often ACCEPT was repeated} */
  public synchronized long retransmissions() {
    return retransmissions;
  }

  /** {@return whether the client has confirmed the connection} */
  public synchronized boolean isConfirmed() {
    return state == State.CONFIRMED;
  }

  /**
   * Takes the request, to be answered by this thread.
   *
   * @param uri identifies the listener in errors
   * @throws IllegalStateException if it was already answered
   * @throws ConnectionClosedException if the client has abandoned the attempt
   */
  public synchronized void take(URI uri) {
    if (state == State.FAILED) {
      throw hasGivenUp(uri);
    }
    if (acceptor.isClosed() && (state == State.WAITING || isUntaken)) {
      throw new ConnectionClosedException(uri, false, "the listener was closed", null);
    }
    if (state != State.WAITING) {
      throw new IllegalStateException("the connection request is already answered");
    }
    state = State.TAKEN;
  }

  private static ConnectionClosedException hasGivenUp(URI uri) {
    return new ConnectionClosedException(
        uri, true, "the client stopped waiting before it was accepted", null);
  }

  /** Removes the client, which could not be accepted. */
  public void abandon() {
    fail(Failure.CANCELLED);
    acceptor.forget(this);
  }

  /**
   * A connection for the client.
   *
   * @param uri identifies the connection in errors
   * @param id its number here
   * @param payload the program's payload
   * @param memory the file of the memory from which this side receives, open until the client has
   *     confirmed or failed to
   * @param deadline when the client must have confirmed, by {@link System#nanoTime}
   * @param wasUsed returns whether the client has used the connection, which counts as a
   *     confirmation; throws the failure that ends the connection
   */
  public record Acceptance(
      URI uri, int id, byte[] payload, SealedFile memory, long deadline, BooleanSupplier wasUsed) {}

  /**
   * Accepts, and waits until the client has confirmed.
   *
   * @param acceptance the connection
   */
  public void accept(Acceptance acceptance) {
    CountDownLatch done = new CountDownLatch(1);
    offer(acceptance, done::countDown);
    try {
      if (!done.await(acceptance.deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        endpoint.loop().awaitDatagrams();
        fail(Failure.TIMED_OUT); // normally by the endpoint's thread, which may be this one
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new OperationInterruptedException(acceptance.uri, "interrupted while accepting", e);
    }
    checkConfirmed(acceptance.uri);
  }

  private synchronized void checkConfirmed(URI uri) {
    if (state == State.CONFIRMED) {
      return;
    }
    throw switch (failure) {
      case CANCELLED -> hasGivenUp(uri);
      case TIMED_OUT ->
          new OperationTimeoutException(
              uri, "accept timed out: the client did not confirm the connection", null);
      case GONE -> new PeerLostException(uri, "the client died while it was being accepted", cause);
      case BROKEN ->
          new ProtocolException(
              uri,
              cause == null ? "the client's connection failed" : String.valueOf(cause.getMessage()),
              cause);
    };
  }

  /**
   * Accepts, without waiting for the client to confirm.
   *
   * @param acceptance the connection
   * @param whenResolved run once, by any thread, when the client has confirmed or failed to
   * @throws ConnectionClosedException if the listener was closed
   */
  public void offer(Acceptance acceptance, Runnable whenResolved) {
    if (!acceptor.accepted(this, acceptance.id)) {
      throw new ConnectionClosedException(acceptance.uri, false, "the listener was closed", null);
    }
    boolean over;
    synchronized (this) {
      resolved = whenResolved;
      over = state != State.TAKEN; // the client has abandoned the attempt meanwhile
      if (!over) {
        state = State.OFFERED;
        serverId = acceptance.id;
        answer =
            new HandshakeMessage(Type.ACCEPT, key.clientId(), acceptance.id, acceptance.payload);
        answerFile = acceptance.memory;
        used = acceptance.wasUsed;
        backoff = new Backoff(acceptance.deadline);
        repeatAt = backoff.next();
        over = isGone(endpoint.send(answer, answerFile, key.client())) && failed(Failure.GONE);
      }
    }
    if (over) {
      resolve();
    } else {
      endpoint.loop().wakeForOffer();
    }
  }

  private static boolean isGone(int result) {
    return result == -Errno.ECONNREFUSED || result == -Errno.ENOENT;
  }

  /** Returns when {@link #tick} is due; or {@link EndpointLoop#NEVER}. */
  synchronized long tickAt() {
    return state == State.OFFERED ? repeatAt : EndpointLoop.NEVER;
  }

  /** Repeats ACCEPT if that is due; called by the endpoint's thread. */
  void tick(long now) {
    synchronized (this) {
      if (state != State.OFFERED || answer == null || now - repeatAt < 0) {
        return;
      }
      boolean isLate = backoff.isOver();
      repeatAt = backoff.next();
      boolean over = checkWhetherUsed();
      if (!over && isLate) {
        over = failed(Failure.TIMED_OUT);
      } else if (!over) {
        retransmissions++;
        over = isGone(endpoint.send(answer, answerFile, key.client())) && failed(Failure.GONE);
      }
      if (!over) {
        return;
      }
    }
    resolve();
  }

  /**
   * Resolves the offer of a connection that has ended: it is confirmed if the client has used it.
   *
   * @param connectionFailure the failure; null if there was none
   */
  public void ended(@Nullable FerruleException connectionFailure) {
    synchronized (this) {
      if (state != State.OFFERED || checkingUse) {
        return;
      }
      if (!checkWhetherUsed()) {
        cause = connectionFailure;
        failed(connectionFailure instanceof ProtocolException ? Failure.BROKEN : Failure.GONE);
      }
    }
    resolve();
  }

  /** Returns whether the offer is resolved. The caller holds the lock; no other thread receives. */
  private boolean checkWhetherUsed() {
    checkingUse = true;
    try {
      if (used.getAsBoolean()) {
        state = State.CONFIRMED;
      }
    } catch (FerruleException e) {
      cause = e;
      failed(Failure.BROKEN);
    } finally {
      checkingUse = false;
    }
    return state != State.OFFERED;
  }

  /** Marks the handshake as failed; returns true. The caller holds the lock. */
  private boolean failed(Failure how) {
    state = State.FAILED;
    failure = how;
    return true;
  }

  /** Reports the result of the handshake. Runs once, without the lock. */
  private void resolve() {
    boolean isConfirmed;
    int id;
    Runnable callback;
    synchronized (this) {
      isConfirmed = state == State.CONFIRMED;
      id = serverId;
      callback = resolved;
      resolved = () -> {};
    }
    if (isConfirmed) {
      endpoint.established(id);
    }
    acceptor.resolved(this, isConfirmed);
    callback.run();
  }

  /**
   * Rejects the client on behalf of the program.
   *
   * @param answerPayload the program's payload
   */
  public void reject(byte[] answerPayload) {
    refuse(new HandshakeMessage(Type.REJECT, key.clientId(), 0, answerPayload));
  }

  /**
   * Refuses the client for a reason other than the program's decision.
   *
   * @param reason the reason
   */
  public void refuse(String reason) {
    refuse(HandshakeMessage.refusal(key.clientId(), reason));
  }

  /**
   * Refuses the client because a resource is exhausted here.
   *
   * @param reason the resource
   */
  public void refuseForLackOfRoom(String reason) {
    refuse(HandshakeMessage.noRoom(key.clientId(), reason));
  }

  /** Refuses the client unless a thread has taken the request. */
  void refuseUntaken(String reason) {
    synchronized (this) {
      if (state != State.WAITING) {
        return;
      }
      isUntaken = true;
    }
    refuse(reason);
  }

  private void refuse(HandshakeMessage message) {
    boolean wasOffered;
    synchronized (this) {
      if (state == State.FAILED) {
        return;
      }
      wasOffered = state == State.OFFERED; // and could not be sent
      state = State.REFUSED;
      memory.close();
      answer = message;
      answerFile = null;
      endpoint.send(message, key.client());
    }
    acceptor.refused(this);
    if (wasOffered) {
      resolve();
    }
  }

  /** Answers a retransmitted request: the answer was lost, or there is none yet. */
  synchronized void answerAgain() {
    if (answer != null) {
      endpoint.send(answer, answerFile, key.client());
    }
  }

  void acknowledged(int id) {
    synchronized (this) {
      if (state != State.OFFERED || id != serverId) {
        return;
      }
      state = State.CONFIRMED;
    }
    resolve();
  }

  /**
   * Handles a cancellation, or another client that reuses the name. A client that has closed the
   * connection again, and whose ACK was lost, may cancel, too. Returns whether there was none.
   */
  boolean cancel() {
    return fail(Failure.CANCELLED);
  }

  /** Withdraws an unconfirmed offer for other clients; returns whether there was no connection. */
  boolean withdraw() {
    return fail(Failure.TIMED_OUT);
  }

  /** Returns whether there was no connection; one that the client has used is confirmed. */
  private boolean fail(Failure how) {
    synchronized (this) {
      if (state != State.WAITING && state != State.TAKEN && state != State.OFFERED) {
        return false;
      }
      if (state == State.WAITING) {
        memory.close();
      }
      if (state != State.OFFERED || !checkWhetherUsed()) {
        failed(how);
      }
    }
    resolve();
    return !isConfirmed();
  }
}
