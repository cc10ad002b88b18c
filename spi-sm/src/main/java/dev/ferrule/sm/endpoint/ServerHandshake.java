// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.ConnectionClosedException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.PeerLostException;
import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.sm.endpoint.HandshakeMessage.Type;
import dev.ferrule.sm.os.PosixException;
import dev.ferrule.sm.os.SealedFile;
import dev.ferrule.sm.ring.RingLayout;
import java.net.URI;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The server's side of one handshake: a client waits; ACCEPT is sent again and again until there is
 * an ACK, or REJECT or REFUSE as often as the client asks.
 */
public final class ServerHandshake {

  private enum State {
    WAITING,
    ACCEPTING,
    ESTABLISHED,
    TURNED_AWAY,
    CANCELLED
  }

  private final Acceptor acceptor;
  private final Endpoint endpoint;
  private final Acceptor.Key key;
  private final long generation;
  private final byte[] payload;
  private final PassedMemory memory;
  private State state = State.WAITING;
  private @Nullable HandshakeMessage answer;
  private @Nullable SealedFile answerFile; // passed with it
  private int serverId;
  private long retransmissions;

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
   * Returns the generation of the ring that came with a message; 0 if it is none.
   *
   * @throws PosixException ENOMEM if this process lacks what it takes to look; EINVAL if a file of
   *     that kind cannot be used
   */
  static long generationOf(PassedMemory memory) {
    return RingLayout.readDescriptor(memory.file().read(RingLayout.DESCRIPTOR_SIZE))
        .map(RingLayout.Descriptor::generation)
        .orElse(0L);
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
   * Takes the request for this thread to answer.
   *
   * @param uri names the listener in errors
   * @throws IllegalStateException if it was answered already
   * @throws ConnectionClosedException if the client has given up
   */
  public synchronized void take(URI uri) {
    if (state == State.CANCELLED) {
      throw new ConnectionClosedException(
          uri, true, "the client has given up waiting to be accepted", null);
    }
    if (state != State.WAITING) {
      throw new IllegalStateException("the connection request was answered already");
    }
    if (acceptor.isClosed()) {
      throw new ConnectionClosedException(uri, false, "the listener was closed", null);
    }
    state = State.ACCEPTING;
  }

  /** Forgets the client, which could not be accepted and cannot be told. */
  public void abandon() {
    cancel();
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
   * @param used tells whether the client has used the connection, which is as good as a
   *     confirmation
   */
  public void accept(
      URI uri, int id, byte[] answerPayload, SealedFile own, long deadline, BooleanSupplier used) {
    acceptor.accepted(this, id);
    awaitConfirmation(uri, id, answerPayload, own, deadline, used);
  }

  private synchronized void awaitConfirmation(
      URI uri, int id, byte[] answerPayload, SealedFile own, long deadline, BooleanSupplier used) {
    serverId = id;
    answerFile = own;
    HandshakeMessage accept = new HandshakeMessage(Type.ACCEPT, key.clientId(), id, answerPayload);
    answer = accept;
    Backoff backoff = new Backoff(deadline);
    try {
      while (true) {
        int result = endpoint.send(accept, own, key.client());
        backoff.waitOn(this, () -> state != State.ACCEPTING);
        if (state == State.ESTABLISHED || used.getAsBoolean()) {
          state = State.ESTABLISHED;
          return;
        }
        if (state == State.CANCELLED) {
          throw new ConnectionClosedException(
              uri, true, "the client has given up waiting to be accepted", null);
        }
        if (result == -LibC.ECONNREFUSED() || result == -LibC.ENOENT()) {
          throw new PeerLostException(uri, "the client died while it was being accepted", null);
        }
        if (backoff.isOver()) {
          throw new OperationTimeoutException(
              uri, "the client did not confirm the connection in time", null);
        }
        retransmissions++;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new OperationInterruptedException(uri, "interrupted while accepting", e);
    }
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

  private void turnAway(HandshakeMessage message) {
    synchronized (this) {
      if (state == State.CANCELLED) {
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

  synchronized void acknowledged(int id) {
    if (state == State.ACCEPTING && id == serverId && answer != null) {
      state = State.ESTABLISHED;
      notifyAll();
    }
  }

  /** Gives up, if there is no connection yet; returns whether it did. */
  synchronized boolean cancel() {
    if (state != State.WAITING && state != State.ACCEPTING) {
      return false;
    }
    if (state == State.WAITING) {
      memory.close();
    }
    state = State.CANCELLED;
    notifyAll();
    return true;
  }
}
