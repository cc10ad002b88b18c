// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.ConnectionClosedException;
import dev.ferrule.FerruleException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.sm.endpoint.HandshakeMessage.Type;
import dev.ferrule.sm.os.PosixException;
import dev.ferrule.sm.os.SealedFile;
import dev.ferrule.sm.ring.RingLayout;
import java.net.URI;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The server's side of one handshake: a client waits; ACCEPT is sent again and again until there is
 * an ACK, or REJECT or REFUSE as often as the client asks. The endpoint's thread repeats ACCEPT and
 * watches the deadline, so no thread of the program is needed for a client that does not answer.
 */
public final class ServerHandshake {

  /** What {@link #tickAt} returns if there is nothing left to do. */
  static final long NEVER = Long.MAX_VALUE;

  private enum State {
    WAITING,
    /** A thread makes what the connection needs. */
    TAKEN,
    /** ACCEPT was sent. */
    OFFERED,
    CONFIRMED,
    TURNED_AWAY,
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
  private boolean isUntaken; // whether it was turned away before any thread took it
  private Failure failure = Failure.CANCELLED; // if the state is FAILED
  private @Nullable FerruleException cause; // if the failure is BROKEN
  private @Nullable HandshakeMessage answer;
  private @Nullable SealedFile answerFile; // passed with it
  private int serverId;
  private long retransmissions;

  // of an offer
  private Backoff backoff = new Backoff(0);
  private long repeatAt;
  private BooleanSupplier used = () -> false;
  private boolean looking; // whether it is being asked, which may end the connection
  private Runnable settled = () -> {};

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

  /**
   * Reads the descriptor of the ring that came with a message.
   *
   * @return the descriptor; empty if there is none
   * @throws PosixException ENOMEM if this process lacks what it takes to look; EINVAL if a file of
   *     that kind cannot be used
   */
  static Optional<RingLayout.Descriptor> ringOf(PassedMemory memory) {
    return RingLayout.readDescriptor(memory.file().read(RingLayout.DESCRIPTOR_SIZE));
  }

  Acceptor.Key key() {
    return key;
  }

  /**
   * Returns the generation of the client's ring.
   *
   * @return the generation
   */
  public long generation() {
    return generation;
  }

  /**
   * Returns the address of the client's endpoint.
   *
   * @return the address
   */
  public SmAddress client() {
    return key.client();
  }

  /**
   * Returns the connection's number at the client's endpoint.
   *
   * @return the number
   */
  public int clientId() {
    return key.clientId();
  }

  /**
   * Returns the memory from which the client receives, for the one that {@linkplain #take takes}
   * the request, who closes it.
   *
   * @return the memory
   */
  public PassedMemory memory() {
    return memory;
  }

  /**
   * Returns what the client's program has to say.
   *
   * @return the payload
   */
  public byte[] payload() {
    return payload.clone();
  }

  /**
   * Returns how often ACCEPT had to be repeated.
   *
   * @return the number of repetitions
   */
  public synchronized long retransmissions() {
    return retransmissions;
  }

  /**
   * Returns whether the client has confirmed the connection.
   *
   * @return whether it has
   */
  public synchronized boolean isConfirmed() {
    return state == State.CONFIRMED;
  }

  /**
   * Takes the request for this thread to answer.
   *
   * @param uri names the listener in errors
   * @throws IllegalStateException if it was answered already
   * @throws ConnectionClosedException if the client has given up
   */
  public synchronized void take(URI uri) {
    if (state == State.FAILED) {
      throw hasGivenUp(uri);
    }
    if (acceptor.isClosed() && (state == State.WAITING || isUntaken)) {
      throw new ConnectionClosedException(uri, false, "the listener was closed", null);
    }
    if (state != State.WAITING) {
      throw new IllegalStateException("the connection request was answered already");
    }
    state = State.TAKEN;
  }

  private static ConnectionClosedException hasGivenUp(URI uri) {
    return new ConnectionClosedException(
        uri, true, "the client has given up waiting to be accepted", null);
  }

  /** Forgets the client, which could not be accepted. */
  public void abandon() {
    fail(Failure.CANCELLED);
    acceptor.forget(this);
  }

  /**
   * Accepts, and waits until the client has confirmed.
   *
   * @param uri names the connection in errors
   * @param id the connection's number here, whose directory holds its ring by now
   * @param answerPayload what the program has to say
   * @param own the file of the memory from which this side receives
   * @param deadline until when to wait, by {@link System#nanoTime}
   * @param used returns whether the client has used the connection, which is as good as a
   *     confirmation
   */
  public void accept(
      URI uri, int id, byte[] answerPayload, SealedFile own, long deadline, BooleanSupplier used) {
    CountDownLatch done = new CountDownLatch(1);
    offer(uri, id, answerPayload, own, deadline, used, done::countDown);
    try {
      if (!done.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        fail(Failure.TIMED_OUT); // by the endpoint's thread otherwise, which may be this one
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new OperationInterruptedException(uri, "interrupted while accepting", e);
    }
    checkConfirmed(uri);
  }

  private synchronized void checkConfirmed(URI uri) {
    if (state == State.CONFIRMED) {
      return;
    }
    throw switch (failure) {
      case CANCELLED -> hasGivenUp(uri);
      case TIMED_OUT ->
          new OperationTimeoutException(
              uri, "the client did not confirm the connection in time", null);
      case GONE -> new PeerLostException(uri, "the client died while it was being accepted", cause);
      case BROKEN ->
          new ProtocolException(
              uri,
              cause == null ? "the client is broken" : String.valueOf(cause.getMessage()),
              cause);
    };
  }

  /**
   * Accepts, without waiting for the client to confirm.
   *
   * @param uri names the connection in errors
   * @param id the connection's number here, whose directory holds its ring by now
   * @param answerPayload what the program has to say
   * @param own the file of the memory from which this side receives, open until the offer is
   *     settled
   * @param deadline until when the client has to confirm, by {@link System#nanoTime}
   * @param wasUsed returns whether the client has used the connection, which is as good as a
   *     confirmation; throws what ends the connection
   * @param whenSettled run once the client has confirmed or failed to, by any thread
   * @throws ConnectionClosedException if the listener was closed
   */
  public void offer(
      URI uri,
      int id,
      byte[] answerPayload,
      SealedFile own,
      long deadline,
      BooleanSupplier wasUsed,
      Runnable whenSettled) {
    if (!acceptor.accepted(this, id)) {
      throw new ConnectionClosedException(uri, false, "the listener was closed", null);
    }
    boolean over;
    synchronized (this) {
      settled = whenSettled;
      over = state != State.TAKEN; // the client has given up meanwhile
      if (!over) {
        state = State.OFFERED;
        serverId = id;
        answer = new HandshakeMessage(Type.ACCEPT, key.clientId(), id, answerPayload);
        answerFile = own;
        used = wasUsed;
        backoff = new Backoff(deadline);
        repeatAt = backoff.next();
        over = isGone(endpoint.send(answer, own, key.client())) && failed(Failure.GONE);
      }
    }
    if (over) {
      settle();
    } else {
      endpoint.wakeForOffer();
    }
  }

  private static boolean isGone(int result) {
    return result == -LibC.ECONNREFUSED() || result == -LibC.ENOENT();
  }

  /** When {@link #tick} has something to do, by {@link System#nanoTime}, or NEVER. */
  synchronized long tickAt() {
    return state == State.OFFERED ? repeatAt : NEVER;
  }

  /** Repeats ACCEPT if it is time to; called by the endpoint's thread. */
  void tick(long now) {
    synchronized (this) {
      if (state != State.OFFERED || answer == null || now - repeatAt < 0) {
        return;
      }
      boolean isLate = backoff.isOver();
      repeatAt = backoff.next();
      boolean over = lookWhetherUsed();
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
    settle();
  }

  /**
   * Settles the offer, as the connection has ended: it is confirmed if the client has used it.
   *
   * @param connectionFailure why it has failed; null if it has not
   */
  public void ended(@Nullable FerruleException connectionFailure) {
    synchronized (this) {
      if (state != State.OFFERED || looking) {
        return;
      }
      if (!lookWhetherUsed()) {
        cause = connectionFailure;
        failed(connectionFailure instanceof ProtocolException ? Failure.BROKEN : Failure.GONE);
      }
    }
    settle();
  }

  /** Under the lock, while no other thread receives; returns whether the offer is settled. */
  private boolean lookWhetherUsed() {
    looking = true;
    try {
      if (used.getAsBoolean()) {
        state = State.CONFIRMED;
      }
    } catch (FerruleException e) {
      cause = e;
      failed(Failure.BROKEN);
    } finally {
      looking = false;
    }
    return state != State.OFFERED;
  }

  /** Under the lock. */
  private boolean failed(Failure how) {
    state = State.FAILED;
    failure = how;
    return true;
  }

  /** Not under the lock, and once. */
  private void settle() {
    boolean isConfirmed;
    Runnable told;
    synchronized (this) {
      isConfirmed = state == State.CONFIRMED;
      told = settled;
      settled = () -> {};
    }
    acceptor.settled(this, isConfirmed);
    told.run();
  }

  /**
   * Turns the client away.
   *
   * @param answerPayload what the program has to say
   */
  public void reject(byte[] answerPayload) {
    turnAway(new HandshakeMessage(Type.REJECT, key.clientId(), 0, answerPayload));
  }

  /**
   * Turns the client away for a reason that is not the program's.
   *
   * @param reason why
   */
  public void refuse(String reason) {
    turnAway(Acceptor.refusal(key.clientId(), reason));
  }

  /**
   * Turns the client away because a resource has run out here.
   *
   * @param reason which
   */
  public void refuseForLackOfRoom(String reason) {
    turnAway(Acceptor.noRoom(key.clientId(), reason));
  }

  /**
   * Turns the client away unless a thread has taken the request.
   *
   * @param reason why
   */
  void refuseUntaken(String reason) {
    synchronized (this) {
      if (state != State.WAITING) {
        return;
      }
      isUntaken = true;
    }
    refuse(reason);
  }

  private void turnAway(HandshakeMessage message) {
    synchronized (this) {
      if (state == State.FAILED) {
        return;
      }
      state = State.TURNED_AWAY;
      memory.close();
      answer = message;
      endpoint.send(message, key.client());
    }
    acceptor.turnedAway(this);
  }

  /** The client asks again: it did not get the answer, or there is none yet. */
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
    settle();
  }

  /** The client gives up, or another goes by its name; returns whether there was no connection. */
  boolean cancel() {
    return fail(Failure.CANCELLED);
  }

  /** Gives up a client that has not confirmed, so that others can be accepted. */
  void withdraw() {
    fail(Failure.TIMED_OUT);
  }

  private boolean fail(Failure how) {
    synchronized (this) {
      if (state != State.WAITING && state != State.TAKEN && state != State.OFFERED) {
        return false;
      }
      if (state == State.WAITING) {
        memory.close();
      }
      failed(how);
    }
    settle();
    return true;
  }
}
