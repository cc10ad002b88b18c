// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The clients of a listener that serves one client at a time. Each request is accepted in its own
 * thread. While a client does not confirm its connection, the next ones are accepted concurrently,
 * up to a limit.
 *
 * <p><b>Threads:</b> used by one thread.
 */
public final class Arrivals implements AutoCloseable {

  /** How long a client may take to confirm before the next one is accepted concurrently. */
  private static final Duration CONFIRMATION_TIME = Duration.ofMillis(100);

  /** Maximum number of unconfirmed clients. Each has a thread. */
  private static final int MAX_UNCONFIRMED = 64;

  /** The outcome of a request: a connection, none, or a failure. */
  private record Outcome(Optional<Connection> connection, @Nullable Throwable failure) {}

  private final Listener listener;
  private final Function<ConnectionRequest, Optional<Connection>> accept;
  private final int most;
  private final BlockingQueue<Outcome> outcomes = new LinkedBlockingQueue<>();
  private int pending;
  private boolean closed; // guarded by outcomes

  /**
   * Creates the source of clients.
   *
   * @param listener the listener
   * @param accept accepts or rejects a request; called in a new thread for each
   */
  public Arrivals(Listener listener, Function<ConnectionRequest, Optional<Connection>> accept) {
    this(listener, accept, MAX_UNCONFIRMED);
  }

  Arrivals(Listener listener, Function<ConnectionRequest, Optional<Connection>> accept, int most) {
    this.listener = listener;
    this.accept = accept;
    this.most = most;
  }

  /**
   * Waits for the next client.
   *
   * @param timeout the time limit for a request; null for no limit
   * @return its connection; empty if the client was rejected or has disconnected
   * @throws OperationTimeoutException if there was no request, or no confirmation, within the time
   *     limit
   */
  public Optional<Connection> next(@Nullable Duration timeout) {
    long begin = System.nanoTime();
    while (true) {
      Outcome outcome = pending == 0 ? null : poll();
      if (outcome != null) {
        pending--;
        return switch (outcome.failure) {
          case null -> outcome.connection;
          case RuntimeException e -> throw e;
          case Error e -> throw e;
          default -> throw new IllegalStateException(outcome.failure);
        };
      }
      @Nullable Duration left =
          timeout == null ? null : timeout.minusNanos(System.nanoTime() - begin);
      ConnectionRequest request = nextRequest(left);
      if (request != null) {
        pending++;
        Thread.ofPlatform().daemon().name("ferrule accept").start(() -> finish(outcome(request)));
      }
    }
  }

  private @Nullable Outcome poll() {
    try {
      return outcomes.poll(CONFIRMATION_TIME.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null; // the next call of the listener throws
    }
  }

  /** Returns the next request; null if there is none yet, while others are pending. */
  private @Nullable ConnectionRequest nextRequest(@Nullable Duration left) {
    if (pending == 0) {
      return left == null ? listener.nextRequest() : listener.nextRequest(left);
    }
    if (pending >= most && !Thread.currentThread().isInterrupted()) {
      if (left == null || left.isPositive()) {
        return null;
      }
      throw new OperationTimeoutException(
          listener.uri(),
          "accept timed out: none of " + pending + " clients has confirmed its connection",
          null);
    }
    if (left != null && left.compareTo(CONFIRMATION_TIME) < 0) {
      return listener.nextRequest(left);
    }
    try {
      return listener.nextRequest(Duration.ZERO);
    } catch (OperationTimeoutException e) {
      return null;
    }
  }

  private Outcome outcome(ConnectionRequest request) {
    try {
      return new Outcome(accept.apply(request), null);
    } catch (Throwable e) { // without an outcome, the request would be pending forever
      return new Outcome(Optional.empty(), e);
    }
  }

  private void finish(Outcome outcome) {
    synchronized (outcomes) {
      if (!closed) {
        outcomes.add(outcome);
        return;
      }
    }
    outcome.connection.ifPresent(Connection::close);
  }

  /** Closes the connections that {@link #next} has not returned. */
  @Override
  public void close() {
    synchronized (outcomes) {
      closed = true;
    }
    outcomes.forEach(outcome -> outcome.connection.ifPresent(Connection::close));
  }
}
