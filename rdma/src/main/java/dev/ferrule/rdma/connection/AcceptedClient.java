// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.rdma.context.RdmaContext;
import dev.ferrule.verbs.cm.CmEvent;
import java.net.URI;
import java.time.Duration;

/**
 * A client that was accepted and has not confirmed the connection yet. Waits for the confirmation.
 *
 * <p><b>Threads:</b> used by one accepting thread at a time; the listener's lock guards the
 * transfer to another one. The event loop calls the methods whose comments name it.
 */
final class AcceptedClient {

  /**
   * The interval at which a thread that waits for a confirmation polls for messages of the client.
   */
  private static final long SIGN_CHECK_NANOS = 100_000_000;

  /** The time to confirm for a client that blocks the acceptance of others. */
  static final long SHORT_CONFIRM_NANOS = 5_000_000_000L;

  /** The time after which other clients are accepted although this one has not confirmed. */
  static final long OVERDUE_NANOS = 100_000_000;

  private final RdmaListener listener;
  private final RdmaContext rdmaContext;
  private final RdmaConnection connection;
  private final Mailbox mailbox;
  private long acceptedAt; // by the listener's clock
  private long confirmTimeoutNanos;

  AcceptedClient(
      RdmaListener listener, RdmaContext rdmaContext, RdmaConnection connection, Mailbox mailbox) {
    this.listener = listener;
    this.rdmaContext = rdmaContext;
    this.connection = connection;
    this.mailbox = mailbox;
  }

  /** Starts the time to confirm. Called when the acceptance is sent. */
  void startTimeout(Duration timeout) {
    confirmTimeoutNanos = timeout.toNanos();
    acceptedAt = listener.now();
  }

  /** Returns the time from which other requests are accepted concurrently. */
  long overdueAt() {
    return acceptedAt + OVERDUE_NANOS;
  }

  /** Returns the deadline of the client's confirmation, by the listener's clock. */
  long deadline() {
    return acceptedAt + confirmTimeoutNanos;
  }

  /** Shortens the time to confirm, as this client blocks others. Under the listener's lock. */
  void shortenTimeout() {
    confirmTimeoutNanos = Math.min(confirmTimeoutNanos, SHORT_CONFIRM_NANOS);
  }

  /** Returns whether {@link #confirmed} returns or throws without waiting. */
  boolean isConfirmedOrFailed() {
    return !mailbox.isEmpty() || isExpired() || connection.hasEnded() || connection.hasReceived();
  }

  /** Returns whether the time to confirm is over; the client may have confirmed nevertheless. */
  boolean isExpired() {
    return deadline() - listener.now() <= 0;
  }

  /**
   * Returns whether the client has sent neither a confirmation nor a message. Called by the event
   * loop after it has dispatched all events.
   */
  boolean isSilent() {
    return mailbox.isEmpty() && !connection.hasReceived() && !hasEndedWell();
  }

  /**
   * Polls for messages, which count as a confirmation: the confirmation itself may be lost. Not
   * under a lock.
   */
  void drain() {
    connection.drain();
  }

  /**
   * Handles an event, before it is queued. By the event loop.
   *
   * @return whether the client has given up
   */
  boolean onEvent(CmEvent event) {
    if (event.type() == CmEvent.Type.ESTABLISHED) {
      connection.onConfirmed();
      return false;
    }
    if (!mailbox.isEmpty()) {
      return false;
    }
    connection.drain(); // the confirmation may be lost although messages have arrived
    return !hasEndedWell() && !isAlive(event);
  }

  /** Waits for the client's confirmation. Called once. */
  RdmaConnection confirmed() {
    boolean done = false;
    try {
      awaitSign();
      connection.handleEvents(mailbox);
      done = true;
      return connection;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new OperationInterruptedException(listener.uri(), "interrupted while accepting", e);
    } finally {
      if (!done) {
        giveUp();
      }
    }
  }

  /**
   * Waits for the client's confirmation, a message, or the end of the connection. The receiver of
   * all connections may already have polled the last two. What arrived in time counts, even if this
   * method is called later or the event loop has not been scheduled since.
   */
  private void awaitSign() throws InterruptedException {
    URI uri = listener.uri();
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
    if (event == null ? !connection.hasEnded() : isAlive(event)) {
      connection.onConfirmed();
    } else if (!hasEndedWell()) {
      throw RdmaConnectionRequest.gone(uri, connection.failure());
    }
  }

  /** Messages confirm a connection as well, but the connection manager does not see them. */
  private boolean isAlive(CmEvent event) {
    return event.type() == CmEvent.Type.ESTABLISHED
        || (event.type() == CmEvent.Type.UNREACHABLE && connection.hasReceived());
  }

  /**
   * Returns whether either side has closed the connection. A close is a message, so the client had
   * confirmed.
   */
  private boolean hasEndedWell() {
    return connection.hasEnded() && connection.failure() == null;
  }

  /** Closes the connection, which was not returned to the program. */
  void close() {
    connection.close(Duration.ZERO);
  }

  /** Releases the connection, which was not confirmed. */
  void giveUp() {
    connection.abandon(
        "the client disconnected before it confirmed the connection, or did not confirm in time");
  }
}
