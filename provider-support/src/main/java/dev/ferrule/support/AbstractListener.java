// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.Listener;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.Readiness;
import dev.ferrule.StandardOptions;
import dev.ferrule.spi.ResolvedOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The base class of the providers' listeners. It implements the variants of waiting for a client,
 * and skips clients that fail before they are accepted.
 *
 * @param <R> the provider's requests
 */
public abstract class AbstractListener<R extends ConnectionRequest> implements Listener {

  private static final System.Logger LOGGER = System.getLogger(AbstractListener.class.getName());

  private final ResolvedOptions options;
  private final @Nullable ReadinessDescriptor readiness;
  private final ReadinessDescriptor.@Nullable Source clients;

  /**
   * Creates a listener.
   *
   * @param options the listener's options
   * @param readiness the listener's readiness; null without one
   */
  protected AbstractListener(ResolvedOptions options, @Nullable ReadinessDescriptor readiness) {
    this.options = options;
    this.readiness = readiness;
    this.clients = readiness == null ? null : readiness.source(() -> {}, () -> false);
  }

  /** Shows that a client may be waiting, or has confirmed. By any thread. */
  protected final void onClient() {
    ReadinessDescriptor.raise(clients);
  }

  /** {@return whether a client is waiting, or is accepted and not returned yet} */
  protected abstract boolean hasClient();

  @Override
  public final Readiness readiness() {
    return ReadinessDescriptor.orThrow(readiness, uri());
  }

  /**
   * {@return the readiness, to show messages of the listener's receiver; null if the program does
   * not use it}
   */
  protected final @Nullable ReadinessDescriptor ownReadiness() {
    return readiness;
  }

  /** Closes the readiness of a closed listener. */
  protected final void closeReadiness() {
    if (readiness != null) {
      readiness.close();
    }
  }

  /**
   * Waits for a connection request.
   *
   * @param deadline the deadline, by System.nanoTime; or {@link Deadlines#NEVER}
   * @return the client's request; null after the deadline
   * @throws ConnectionClosedException if the listener is closed
   * @throws InterruptedException if the thread was interrupted
   */
  protected abstract @Nullable R awaitRequest(long deadline) throws InterruptedException;

  /**
   * Waits for a client and accepts it.
   *
   * @param deadline the deadline, by System.nanoTime; or {@link Deadlines#NEVER}
   * @return the connection; null after the deadline
   * @throws ConnectionClosedException if the listener is closed; or, closed by the peer, if the
   *     client has given up
   * @throws PeerLostException if the client has died
   * @throws OperationTimeoutException if the client did not confirm within the timeout
   * @throws ProtocolException if the client does not speak the protocol
   * @throws InterruptedException if the thread was interrupted
   */
  protected abstract @Nullable Connection acceptNext(long deadline) throws InterruptedException;

  /**
   * Returns the deadline for the confirmation of a client that is accepted now.
   *
   * @return the deadline, by System.nanoTime
   */
  protected final long confirmationDeadline() {
    return Deadlines.after(options.get(StandardOptions.CONNECT_TIMEOUT));
  }

  /** {@return the exception for a closed listener} */
  protected final ConnectionClosedException closedException() {
    return new ConnectionClosedException(uri(), false, "the listener was closed", null);
  }

  @Override
  public final ConnectionRequest nextRequest() {
    return await(Deadlines.NEVER);
  }

  @Override
  public final ConnectionRequest nextRequest(Duration timeout) {
    return await(Deadlines.after(timeout));
  }

  @Override
  public final @Nullable ConnectionRequest tryNextRequest() {
    return next(System.nanoTime());
  }

  @Override
  public final Connection accept() {
    return accept(Deadlines.NEVER);
  }

  @Override
  public final Connection accept(Duration timeout) {
    return accept(Deadlines.after(timeout));
  }

  @Override
  public final @Nullable Connection tryAccept() {
    return acceptUntil(System.nanoTime());
  }

  private Connection accept(long deadline) {
    Connection connection = acceptUntil(deadline);
    if (connection == null) {
      throw noClient();
    }
    return connection;
  }

  private @Nullable Connection acceptUntil(long deadline) {
    boolean hasCheckedAgain = false;
    while (true) {
      try {
        Connection connection = acceptNext(deadline);
        if (connection != null) {
          return connection;
        }
        if (hasCheckedAgain || !mayCheckAgain()) {
          return null;
        }
        hasCheckedAgain = true;
        continue;
      } catch (PeerLostException | OperationTimeoutException | ProtocolException e) {
        LOGGER.log(System.Logger.Level.DEBUG, "accepting a client failed; trying the next one", e);
      } catch (ConnectionClosedException e) {
        if (!e.closedByPeer()) {
          throw e;
        }
      } catch (InterruptedException e) {
        throw interrupted(e);
      }
      // A stream of clients that fail must not hold the caller.
      if (Deadlines.left(deadline) <= 0) {
        return null;
      }
    }
  }

  private R await(long deadline) {
    R request = next(deadline);
    if (request == null) {
      throw noClient();
    }
    return request;
  }

  private @Nullable R next(long deadline) {
    try {
      R request = awaitRequest(deadline);
      return request == null && mayCheckAgain() ? awaitRequest(deadline) : request;
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /**
   * Called by a thread that has found no client. Returns whether there may be one now. The
   * readiness shows clients that arrive from now on.
   */
  private boolean mayCheckAgain() {
    ReadinessDescriptor.Source source = clients;
    if (source == null) {
      return false;
    }
    source.foundNothing();
    boolean hasClient = hasClient();
    if (hasClient) {
      source.raise();
    }
    return hasClient;
  }

  private OperationTimeoutException noClient() {
    return new OperationTimeoutException(uri(), "accept timed out: no connection request", null);
  }

  private OperationInterruptedException interrupted(InterruptedException e) {
    Thread.currentThread().interrupt();
    return new OperationInterruptedException(uri(), "interrupted while waiting for a client", e);
  }

  @Override
  public String toString() {
    return "listener at " + uri();
  }
}
