// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.Listener;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.StandardOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What the listeners of all providers do alike: the ways to wait for a client, and accepting the
 * next one that is of use.
 *
 * @param <R> the provider's requests
 */
public abstract class AbstractListener<R extends ConnectionRequest> implements Listener {

  private static final System.Logger LOGGER = System.getLogger(AbstractListener.class.getName());

  private final ConnectionOptions options;

  /**
   * For providers.
   *
   * @param options the listener's options
   */
  protected AbstractListener(ConnectionOptions options) {
    this.options = options;
  }

  /**
   * Waits for a client.
   *
   * @param bounded whether there is a deadline
   * @param deadline until when, by System.nanoTime; only looked at if bounded
   * @return the client's request; null after the deadline
   * @throws ConnectionClosedException if the listener is closed
   * @throws InterruptedException if the thread was interrupted
   */
  protected abstract @Nullable R awaitRequest(boolean bounded, long deadline)
      throws InterruptedException;

  /**
   * Accepts a client.
   *
   * @param request the client's request
   * @param deadline until when the client has to confirm, by System.nanoTime
   * @return the connection
   */
  protected abstract Connection accept(R request, long deadline);

  /**
   * Returns what to throw when the listener is closed.
   *
   * @return the exception
   */
  protected final ConnectionClosedException closedException() {
    return new ConnectionClosedException(uri(), false, "the listener was closed", null);
  }

  @Override
  public final ConnectionRequest nextRequest() {
    return await(false, 0);
  }

  @Override
  public final ConnectionRequest nextRequest(Duration timeout) {
    return await(true, Deadlines.after(timeout));
  }

  @Override
  public final @Nullable ConnectionRequest pollRequest() {
    return next(true, System.nanoTime());
  }

  @Override
  public final Connection accept() {
    return accept(false, 0);
  }

  @Override
  public final Connection accept(Duration timeout) {
    return accept(true, Deadlines.after(timeout));
  }

  private Connection accept(boolean bounded, long deadline) {
    while (true) {
      R request = await(bounded, deadline);
      long patience = Deadlines.after(options.get(StandardOptions.CONNECT_TIMEOUT));
      try {
        return accept(request, bounded && deadline - patience < 0 ? deadline : patience);
      } catch (PeerLostException | OperationTimeoutException | ProtocolException e) {
        LOGGER.log(System.Logger.Level.DEBUG, "a client that is no use; the next one may be", e);
      } catch (ConnectionClosedException e) {
        if (!e.closedByPeer()) {
          throw e;
        }
      }
    }
  }

  private R await(boolean bounded, long deadline) {
    R request = next(bounded, deadline);
    if (request == null) {
      throw new OperationTimeoutException(uri(), "no client came in time", null);
    }
    return request;
  }

  private @Nullable R next(boolean bounded, long deadline) {
    try {
      return awaitRequest(bounded, deadline);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new OperationInterruptedException(uri(), "interrupted while waiting for a client", e);
    }
  }
}
