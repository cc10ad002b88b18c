// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionRejectedException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.VersionMismatchException;
import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.sm.endpoint.HandshakeMessage.Type;
import dev.ferrule.sm.os.PosixException;
import dev.ferrule.sm.os.SealedFile;
import dev.ferrule.spi.PlainText;
import java.net.URI;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The client's side of the handshake: CONNECT, again and again until there is an answer; and ACK,
 * as often as the answer comes. The program's thread waits in {@link #await}, the endpoint's thread
 * brings the answers.
 */
public final class ClientHandshake {

  /** Object.wait rounds down to milliseconds, and 0 is for ever. */
  private static final long SHORTEST_WAIT_NANOS = 1_000_000;

  private final Endpoint endpoint;
  private final int id;
  private final SmAddress server;
  private final byte[] payload;
  private final SealedFile memory;
  private @Nullable Answer answer;
  private @Nullable HandshakeMessage confirmed;
  private boolean ended;
  private long retransmissions; // of the program's thread

  /** An answer, and the memory that came with it. */
  private record Answer(
      HandshakeMessage message, @Nullable PassedMemory memory, boolean isMemoryLost) {}

  ClientHandshake(Endpoint endpoint, int id, SmAddress server, byte[] payload, SealedFile memory) {
    this.memory = memory;
    this.endpoint = endpoint;
    this.id = id;
    this.server = server;
    this.payload = payload;
  }

  /**
   * What the server answered.
   *
   * @param serverId the connection's number at the server's endpoint
   * @param payload what the server's program has to say
   * @param memory the memory from which the server receives
   */
  public record Accepted(int serverId, byte[] payload, PassedMemory memory) {}

  /**
   * Waits for the server to accept.
   *
   * @param uri names the connection in errors
   * @param deadline until when, by {@link System#nanoTime}
   * @param usable returns whether an acceptance is of this connection and not of an earlier one of
   *     the same name; throws a {@link PosixException} if it cannot be used. Such an acceptance
   *     does not count, unless this process lacks a resource: another one may follow
   * @return the server's answer
   */
  public Accepted await(URI uri, long deadline, Predicate<Accepted> usable) {
    HandshakeMessage connect = new HandshakeMessage(Type.CONNECT, id, 0, payload);
    Backoff backoff = new Backoff(deadline);
    PosixException unusable = null;
    try {
      while (true) {
        checkSent(uri, endpoint.send(connect, memory, server));
        // also if the answers are of no use: the server answers each CONNECT
        long repeatAt = backoff.next();
        Answer received = nextAnswer(repeatAt);
        while (received != null) {
          // not under the monitor: it maps memory, and the endpoint's thread serves others as well
          try {
            Accepted accepted = evaluate(uri, received);
            if (accepted != null && usable.test(accepted)) {
              return accepted;
            }
          } catch (PosixException e) {
            if (e.isShortage()) {
              throw e;
            }
            unusable = e; // as good as no answer: the right one may still come
          } finally {
            close(received);
          }
          // a peer that sends answers without end cannot keep this from its deadline
          received = repeatAt - System.nanoTime() > 0 ? nextAnswer(repeatAt) : null;
        }
        if (backoff.isOver()) {
          throw timedOut(uri, unusable);
        }
        retransmissions++;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new OperationInterruptedException(uri, "interrupted while connecting", e);
    }
  }

  private OperationTimeoutException timedOut(URI uri, @Nullable PosixException unusable) {
    String reason =
        unusable == null
            ? "did not accept the connection in time; is its program waiting in accept, or is it"
                + " stopped?"
                + hintAtUsers()
            : "accepted the connection with memory that cannot be used: " + unusable.getMessage();
    return new OperationTimeoutException(
        uri, "the listener's process lives but " + reason, unusable);
  }

  /** Returns the answer that is there; if there is none, waits until it is time to ask again. */
  private synchronized @Nullable Answer nextAnswer(long repeatAt) throws InterruptedException {
    long left = repeatAt - System.nanoTime();
    while (answer == null && left > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, Math.max(left, SHORTEST_WAIT_NANOS));
      left = repeatAt - System.nanoTime();
    }
    Answer received = answer;
    answer = null;
    return received;
  }

  private static void close(@Nullable Answer received) {
    if (received != null && received.memory != null) {
      received.memory.close();
    }
  }

  /** Takes no more answers, and closes the memory of one that has not been looked at. */
  public synchronized void end() {
    close(answer);
    answer = null;
    ended = true;
  }

  /** A listener that may not open the client's files cannot answer either. */
  private String hintAtUsers() {
    OptionalInt owner = EndpointScan.owner(server);
    return owner.isEmpty() || owner.getAsInt() == LibC.geteuid()
        ? ""
        : " It runs as the user with the id "
            + owner.getAsInt()
            + ": is that in the group of "
            + endpoint.address().directory()
            + ", which has to be open to it?";
  }

  /** Tells the server that this side has given up. */
  public void cancel() {
    endpoint.send(new HandshakeMessage(Type.CANCEL, id, 0, new byte[0]), server);
  }

  private void checkSent(URI uri, int result) {
    if (result == -LibC.ECONNREFUSED() || result == -LibC.ENOENT()) {
      throw new ConnectionRefusedException(
          uri, "nobody listens there: the process that owned the endpoint is gone", null);
    }
    if (result == -LibC.EACCES() || result == -LibC.EPERM()) {
      throw new ConnectionRefusedException(
          uri,
          "the endpoint "
              + server.directory()
              + " belongs to another user; run both processes as the same user, or let both have a"
              + " group in common and the option access=group",
          null);
    }
    // anything else, such as a full queue (EAGAIN), is as good as a lost datagram
  }

  private @Nullable Accepted evaluate(URI uri, Answer received) {
    HandshakeMessage message = received.message;
    String text = PlainText.of(message.payload());
    return switch (message.type()) {
      case ACCEPT -> accepted(uri, received);
      case REJECT -> throw new ConnectionRejectedException(uri, message.payload());
      case REFUSE -> throw new ConnectionRefusedException(uri, "connection refused: " + text, null);
      case NO_ROOM ->
          throw new ResourceExhaustedException(
              uri, "the listener's side has no room: " + text, null);
      case VERSION_MISMATCH ->
          throw new VersionMismatchException(
              uri,
              "the listener speaks version "
                  + message.version()
                  + " of the sm protocol, this side version "
                  + HandshakeMessage.VERSION
                  + "; use the same release of Ferrule on both sides",
              null);
      default -> null;
    };
  }

  private static @Nullable Accepted accepted(URI uri, Answer received) {
    if (received.isMemoryLost) {
      throw new ResourceExhaustedException(
          uri,
          PosixException.describe("recvmsg(the listener's memory)", LibC.EMFILE())
              + "; raise the limit of descriptors (ulimit -n)",
          null);
    }
    PassedMemory memory = received.memory;
    return memory == null
        ? null
        : new Accepted(received.message.serverId(), received.message.payload(), memory);
  }

  /**
   * Confirms the acceptance; and does so again whenever the server repeats it.
   *
   * @param accepted the server's answer
   */
  public synchronized void confirm(Accepted accepted) {
    confirmed = new HandshakeMessage(Type.ACK, id, accepted.serverId(), new byte[0]);
    endpoint.send(confirmed, server);
  }

  /**
   * Returns how often CONNECT had to be repeated.
   *
   * @return the number of repetitions
   */
  public long retransmissions() {
    return retransmissions;
  }

  /**
   * Takes an answer; called by the endpoint's thread.
   *
   * @return whether it has taken over the memory
   */
  synchronized boolean receive(
      HandshakeMessage message,
      SmAddress from,
      @Nullable PassedMemory passed,
      boolean isMemoryLost) {
    if (!from.equals(server)) {
      return false;
    }
    if (confirmed == null && !ended) {
      close(answer);
      answer = new Answer(message, passed, isMemoryLost);
      notifyAll();
      return true;
    }
    if (confirmed == null) {
      return false;
    }
    if (message.type() == Type.ACCEPT && message.serverId() == confirmed.serverId()) {
      endpoint.send(confirmed, server); // the first one did not get through
    }
    return false;
  }
}
