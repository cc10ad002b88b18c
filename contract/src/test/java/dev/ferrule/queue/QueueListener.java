// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.queue;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRejectedException;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.MessageTooLongException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.StandardOptions;
import dev.ferrule.spi.ResolvedOptions;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A listener. Clients wait in {@link #connect} until the program has answered their request. */
final class QueueListener implements Listener {

  private static final Duration FOR_EVER = Duration.ofNanos(Long.MAX_VALUE);
  private static final int MAX_PAYLOAD_BYTES = 256;

  private final URI uri;
  private final ResolvedOptions options;
  private final Runnable releaseAddress;
  private final Queue<Request> waiting = new ArrayDeque<>(); // guarded by this, like the rest
  private boolean closed;

  QueueListener(URI uri, ResolvedOptions options, Runnable releaseAddress) {
    this.uri = uri;
    this.options = options;
    this.releaseAddress = releaseAddress;
  }

  static void checkPayload(URI uri, byte[] payload) {
    if (payload.length > MAX_PAYLOAD_BYTES) {
      throw new MessageTooLongException(
          uri,
          payload.length,
          MAX_PAYLOAD_BYTES,
          "payload too long: " + payload.length + " bytes; the limit is " + MAX_PAYLOAD_BYTES);
    }
  }

  /**
   * Waits until another thread notifies the object, whose monitor the caller holds. The caller
   * checks its condition and waits again.
   */
  static void pause(Object monitor, URI uri, long start, long timeoutNanos, String what) {
    long left = timeoutNanos - (System.nanoTime() - start);
    if (left <= 0) {
      throw new OperationTimeoutException(uri, "timed out waiting for " + what, null);
    }
    try {
      monitor.wait(left / 1_000_000 + 1);
    } catch (InterruptedException e) {
      throw interrupted(uri, what);
    }
  }

  static OperationInterruptedException interrupted(URI uri, String what) {
    Thread.currentThread().interrupt();
    return new OperationInterruptedException(uri, "interrupted while waiting for " + what, null);
  }

  /** Waits for room in the backlog and then for the answer. Called by the client. */
  synchronized Connection connect(ResolvedOptions client) {
    long start = System.nanoTime();
    long timeoutNanos = client.get(StandardOptions.CONNECT_TIMEOUT).toNanos();
    Request request = new Request(client);
    boolean queued = false;
    while (!request.isAnswered() && !closed) {
      if (!queued && waiting.size() < options.get(StandardOptions.BACKLOG)) {
        queued = waiting.add(request);
        notifyAll();
      }
      try {
        pause(this, uri, start, timeoutNanos, "the listener to accept");
      } catch (FerruleException e) {
        if (!request.isAnswered()) {
          waiting.remove(request);
          request.gaveUp = true;
          throw e;
        }
      }
    }
    if (request.accepted == null) {
      FerruleException reason = request.refused;
      throw reason != null ? reason : new ConnectionRejectedException(uri, new byte[0]);
    }
    return request.accepted;
  }

  @Override
  public URI uri() {
    return uri;
  }

  @Override
  public ConnectionRequest nextRequest() {
    return nextRequest(FOR_EVER);
  }

  @Override
  public synchronized ConnectionRequest nextRequest(Duration timeout) {
    long start = System.nanoTime();
    ConnectionRequest request = tryNextRequest();
    while (request == null) {
      pause(this, uri, start, TimeUnit.NANOSECONDS.convert(timeout), "a client");
      request = tryNextRequest();
    }
    return request;
  }

  @Override
  public synchronized @Nullable ConnectionRequest tryNextRequest() {
    if (closed) {
      throw new ConnectionClosedException(uri, false, "the listener is closed", null);
    }
    notifyAll(); // a client may wait for room in the backlog
    return waiting.poll();
  }

  @Override
  public Connection accept() {
    return accept(FOR_EVER);
  }

  /** A client gives up under this lock, so the request is still valid when it is accepted. */
  @Override
  public synchronized Connection accept(Duration timeout) {
    return nextRequest(timeout).accept();
  }

  @Override
  public synchronized @Nullable Connection tryAccept() {
    ConnectionRequest request = tryNextRequest();
    return request == null ? null : request.accept();
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      releaseAddress.run();
      notifyAll();
    }
  }

  private final class Request implements ConnectionRequest {
    private final ResolvedOptions client;
    private @Nullable QueueConnection accepted;
    private @Nullable FerruleException refused;
    private boolean gaveUp;

    Request(ResolvedOptions client) {
      this.client = client;
    }

    boolean isAnswered() {
      return accepted != null || refused != null;
    }

    @Override
    public byte[] payload() {
      return client.payload();
    }

    @Override
    public URI peer() {
      return uri; // the client is in this process
    }

    @Override
    public Connection accept(byte[] payload) {
      synchronized (QueueListener.this) {
        checkOpen(payload);
        if (closed || gaveUp) {
          String why = gaveUp ? "the client gave up" : "the listener is closed";
          throw new ConnectionClosedException(uri, gaveUp, why, null);
        }
        try {
          QueueConnection server = QueueConnection.open(uri, options, client, payload);
          accepted = server.peer();
          return server;
        } catch (OutOfMemoryError e) {
          refused =
              new ResourceExhaustedException(
                  uri, "not enough memory (lower maxMessage, or raise -XX:MaxDirectMemorySize)", e);
          throw refused;
        } finally {
          QueueListener.this.notifyAll();
        }
      }
    }

    @Override
    public void reject(byte[] payload) {
      synchronized (QueueListener.this) {
        checkOpen(payload);
        refused = new ConnectionRejectedException(uri, payload);
        QueueListener.this.notifyAll();
      }
    }

    private void checkOpen(byte[] payload) {
      if (isAnswered()) {
        throw new IllegalStateException("the request was already accepted or rejected");
      }
      checkPayload(uri, payload);
    }
  }

  @Override
  public String toString() {
    return "listener at " + uri;
  }
}
