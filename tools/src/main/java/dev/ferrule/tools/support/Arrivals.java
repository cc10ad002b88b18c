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
 * The clients of a listener that serves one at a time. Each request is accepted in a thread of its
 * own: while its client does not confirm the connection, the next one is accepted concurrently, up
 * to a limit.
 *
 * <p><b>Threads:</b> for one thread.
 */
public final class Arrivals implements AutoCloseable {

  /** Time for a client to confirm before the next one is accepted concurrently. */
  private static final Duration BESIDE = Duration.ofMillis(100);

  /** Each unconfirmed client has a thread. */
  private static final int MOST_UNCONFIRMED = 64;

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
   * @param accept accepts or rejects a request; called in a thread of its own
   */
  public Arrivals(Listener listener, Function<ConnectionRequest, Optional<Connection>> accept) {
    this(listener, accept, MOST_UNCONFIRMED);
  }

  Arrivals(Listener listener, Function<ConnectionRequest, Optional<Connection>> accept, int most) {
    this.listener = listener;
    this.accept = accept;
    this.most = most;
  }

  /**
   * Waits for the next client.
   *
   * @param timeout the time limit for a request; null is none
   * @return its connection; empty if it was rejected or has gone
   * @throws OperationTimeoutException if there was no request in time
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
      return outcomes.poll(BESIDE.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null; // the listener throws next
    }
  }

  /** Returns the next request; null if there is none for now, while others are pending. */
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
    if (left != null && left.compareTo(BESIDE) < 0) {
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
    } catch (Throwable e) { // without an outcome it would be pending for ever
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

  /** Closes the connections that were not returned. */
  @Override
  public void close() {
    synchronized (outcomes) {
      closed = true;
    }
    outcomes.forEach(outcome -> outcome.connection.ifPresent(Connection::close));
  }
}
