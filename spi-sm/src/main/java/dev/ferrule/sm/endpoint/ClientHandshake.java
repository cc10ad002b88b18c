// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionRejectedException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.VersionMismatchException;
import dev.ferrule.posix.Errno;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.sm.endpoint.Datagrams.Received;
import dev.ferrule.sm.endpoint.HandshakeMessage.Type;
import dev.ferrule.sm.os.Access;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The client's side of the handshake: retransmits CONNECT until an answer arrives, and sends ACK
 * for every copy of the answer. The program's thread waits in {@link #await}; the endpoint's thread
 * delivers the answers.
 */
public final class ClientHandshake implements AutoCloseable {

  /** Object.wait rounds down to milliseconds, and 0 means no timeout. */
  private static final long SHORTEST_WAIT_NANOS = 1_000_000;

  private final Endpoint endpoint;
  private final int id;
  private final SmAddress server;
  private final byte[] payload;
  private final SealedFile memory;
  private @Nullable Received answer;
  private @Nullable HandshakeMessage confirmed;
  private boolean ended;
  private long retransmissions; // written by the program's thread

  ClientHandshake(Endpoint endpoint, int id, SmAddress server, byte[] payload, SealedFile memory) {
    this.memory = memory;
    this.endpoint = endpoint;
    this.id = id;
    this.server = server;
    this.payload = payload;
  }

  /**
   * The server's acceptance.
   *
   * @param serverId the connection's number at the server's endpoint
   * @param payload the payload of the server's program
   * @param memory the memory from which the server receives
   */
  public record Accepted(int serverId, byte[] payload, PassedMemory memory) {}

  /**
   * Waits for the server to accept.
   *
   * @param uri identifies the connection in errors
   * @param deadline by {@link System#nanoTime}
   * @param usable returns whether an acceptance belongs to this connection and not to an earlier
   *     one of the same name; throws a {@link PosixException} if it cannot be used. An unusable
   *     acceptance is ignored, because another one may follow, unless this process lacks a resource
   *     or the memory is too large
   * @return the server's answer
   */
  public Accepted await(URI uri, long deadline, Predicate<Accepted> usable) {
    HandshakeMessage connect = new HandshakeMessage(Type.CONNECT, id, 0, payload);
    Backoff backoff = new Backoff(deadline);
    PosixException unusable = null;
    try {
      while (true) {
        checkSent(uri, endpoint.send(connect, memory, server));
        // also if the answers are unusable: the server answers each CONNECT
        long repeatAt = backoff.next();
        Received received = nextAnswer(repeatAt);
        while (received != null) {
          // not under the monitor: it maps memory, and the endpoint's thread serves other
          // connections
          try {
            Accepted accepted = evaluate(uri, received);
            if (accepted != null && usable.test(accepted)) {
              return accepted;
            }
          } catch (PosixException e) {
            if (e.isShortage() || e.is(Errno.EFBIG)) {
              throw e;
            }
            unusable = e; // treated as no answer: the right one may still arrive
          } finally {
            close(received);
          }
          // a peer that sends answers endlessly must not defer the deadline
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
            ? "did not accept in time; check that its program calls accept and"
                + " is not stopped"
                + hintAtUsers()
            : "accepted the connection with memory that cannot be used: " + unusable.getMessage();
    return new OperationTimeoutException(
        uri, "connect timed out: the listener's process is alive but " + reason, unusable);
  }

  /** Returns a pending answer; waits until it is time to retransmit if there is none. */
  private synchronized @Nullable Received nextAnswer(long repeatAt) throws InterruptedException {
    long left = repeatAt - System.nanoTime();
    while (answer == null && left > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, Math.max(left, SHORTEST_WAIT_NANOS));
      left = repeatAt - System.nanoTime();
    }
    Received received = answer;
    answer = null;
    return received;
  }

  private static void close(@Nullable Received received) {
    if (received != null && received.memory() != null) {
      received.memory().close();
    }
  }

  /**
   * Discards all further answers. Unless it has confirmed, it notifies the server that it gives up.
   */
  @Override
  public synchronized void close() {
    close(answer);
    answer = null;
    ended = true;
    if (confirmed == null) {
      cancel();
    }
  }

  /** Returns a hint for a listener of another user, which cannot answer without access. */
  private String hintAtUsers() {
    return EndpointScan.owner(server)
        .filter(owner -> owner != Posix.geteuid())
        .map(owner ->
            "; it runs as user id %s, which must be in the group of %s to open it"
                .formatted(owner, endpoint.address().directory()))
        .orElse("");
  }

  private void cancel() {
    endpoint.send(new HandshakeMessage(Type.CANCEL, id, 0), server);
  }

  private void checkSent(URI uri, int result) {
    if (result == -Errno.ECONNREFUSED || result == -Errno.ENOENT) {
      throw new ConnectionRefusedException(
          uri,
          ("connection refused: no listener at %s (start one, or check the path): the process that"
                  + " owned the endpoint has exited")
              .formatted(server.uri()),
          null);
    }
    if (result == -Errno.EACCES || result == -Errno.EPERM) {
      throw new ConnectionRefusedException(
          uri,
          "connection refused: the endpoint %s is owned by another user; %s"
              .formatted(server.directory(), Access.FIX),
          null);
    }
    // any other error, such as a full queue (EAGAIN), is equivalent to a lost datagram
  }

  private @Nullable Accepted evaluate(URI uri, Received received) {
    HandshakeMessage message = received.message();
    if (message.version() != HandshakeMessage.VERSION) {
      throw versionMismatch(uri, message); // whatever its type, the rest has an unknown form
    }
    String text = new String(message.payload(), StandardCharsets.UTF_8);
    return switch (message.type()) {
      case ACCEPT -> accepted(uri, received);
      case REJECT -> throw new ConnectionRejectedException(uri, message.payload());
      case REFUSE -> throw new ConnectionRefusedException(uri, "connection refused: " + text, null);
      case NO_ROOM ->
          throw new ResourceExhaustedException(
              uri, "the listener lacks a resource for another connection: " + text, null);
      case VERSION_MISMATCH -> throw versionMismatch(uri, message);
      default -> null;
    };
  }

  private static VersionMismatchException versionMismatch(URI uri, HandshakeMessage message) {
    return new VersionMismatchException(
        uri,
        ("the listener speaks version %s of the sm protocol, this side version %s; use the same"
                + " release of Ferrule on both sides")
            .formatted(message.version(), HandshakeMessage.VERSION),
        null);
  }

  private static @Nullable Accepted accepted(URI uri, Received received) {
    if (received.isMemoryLost()) {
      throw new ResourceExhaustedException(
          uri,
          PosixException.describe("recvmsg(the listener's memory)", Errno.EMFILE)
              + "; raise the limit of descriptors (ulimit -n)",
          null);
    }
    PassedMemory memory = received.memory();
    return memory == null
        ? null
        : new Accepted(received.message().serverId(), received.message().payload(), memory);
  }

  /**
   * Confirms the acceptance, and confirms it again whenever the server repeats it. From now on the
   * server's silence is counted.
   *
   * @param accepted the server's answer
   */
  public synchronized void confirm(Accepted accepted) {
    HandshakeMessage acknowledgment = new HandshakeMessage(Type.ACK, id, accepted.serverId());
    endpoint.send(acknowledgment, server);
    confirmed = acknowledgment; // not before, as close would then not cancel
    endpoint.established(id);
  }

  /** {@return how often CONNECT was retransmitted} */
  public long retransmissions() {
    return retransmissions;
  }

  /** Handles an answer; returns whether it has taken ownership of the memory. */
  synchronized boolean receive(Received received) {
    HandshakeMessage message = received.message();
    if (!received.from().equals(server)) {
      return false;
    }
    if (confirmed == null && !ended) {
      close(answer);
      answer = received;
      notifyAll();
      return true;
    }
    if (message.type() != Type.ACCEPT) {
      return false;
    }
    if (confirmed == null) {
      cancel(); // the first one was lost, or is about to be sent
    } else if (message.serverId() == confirmed.serverId()) {
      endpoint.send(confirmed, server); // the first one was lost
    }
    return false;
  }
}
