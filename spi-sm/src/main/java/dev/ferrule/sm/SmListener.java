// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.AddressInUseException;
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
import dev.ferrule.sm.endpoint.Acceptor;
import dev.ferrule.sm.endpoint.Endpoint;
import dev.ferrule.sm.endpoint.ServerHandshake;
import dev.ferrule.sm.endpoint.SmAddress;
import dev.ferrule.sm.os.PosixException;
import dev.ferrule.spi.Deadlines;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** An endpoint at which clients are accepted. */
final class SmListener implements Listener {

  private final Endpoint endpoint;
  private final Acceptor acceptor;
  private final ConnectionOptions options;
  private final AtomicBoolean closed = new AtomicBoolean();

  private SmListener(Endpoint endpoint, Acceptor acceptor, ConnectionOptions options) {
    this.endpoint = endpoint;
    this.acceptor = acceptor;
    this.options = options;
  }

  static SmListener listen(URI uri, ConnectionOptions options) {
    SmAddress address = SmAddress.parse(uri);
    SmOptions.layout(uri, options); // a bad option is to be heard of here, not at the first client
    try {
      Endpoint endpoint = Endpoint.open(address);
      if (endpoint == null) {
        throw new AddressInUseException(
            uri,
            "a live process has that endpoint; close its listener and its connections, or use another number",
            null);
      }
      boolean done = false;
      try {
        Acceptor acceptor = endpoint.listen(options.get(StandardOptions.BACKLOG));
        done = true;
        return new SmListener(endpoint, acceptor, options);
      } finally {
        if (!done) {
          endpoint.release();
        }
      }
    } catch (PosixException e) {
      throw Failures.of(uri, e);
    } catch (IOException e) {
      throw Failures.of(uri, e);
    }
  }

  @Override
  public URI uri() {
    return endpoint.address().uri();
  }

  @Override
  public ConnectionRequest nextRequest() {
    return await(false, 0);
  }

  @Override
  public ConnectionRequest nextRequest(Duration timeout) {
    return await(true, Deadlines.after(timeout));
  }

  private SmConnectionRequest await(boolean bounded, long deadline) {
    SmConnectionRequest request = next(bounded, deadline);
    if (request == null) {
      throw new OperationTimeoutException(uri(), "no client came in time", null);
    }
    return request;
  }

  @Override
  public @Nullable ConnectionRequest pollRequest() {
    return next(true, System.nanoTime());
  }

  @Override
  public Connection accept() {
    return accept(false, 0);
  }

  @Override
  public Connection accept(Duration timeout) {
    return accept(true, Deadlines.after(timeout));
  }

  private Connection accept(boolean bounded, long deadline) {
    while (true) {
      SmConnectionRequest request = await(bounded, deadline);
      long patience = Deadlines.after(options.get(StandardOptions.CONNECT_TIMEOUT));
      try {
        return request.accept(
            new byte[0], bounded && deadline - patience < 0 ? deadline : patience);
      } catch (PeerLostException | OperationTimeoutException | ProtocolException e) {
        continue; // this client is no use; the next one may be
      } catch (ConnectionClosedException e) {
        if (!e.closedByPeer()) {
          throw e;
        }
      }
    }
  }

  /** The next client; null if none came in time. */
  private @Nullable SmConnectionRequest next(boolean bounded, long deadline) {
    try {
      ServerHandshake handshake = acceptor.next(bounded, deadline);
      if (handshake == null && acceptor.isClosed()) {
        throw closed();
      }
      return handshake == null ? null : new SmConnectionRequest(endpoint, handshake, options);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new OperationInterruptedException(uri(), "interrupted while waiting for a client", e);
    }
  }

  private ConnectionClosedException closed() {
    return new ConnectionClosedException(uri(), false, "the listener was closed", null);
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      try {
        acceptor.close();
      } finally {
        endpoint.release();
      }
    }
  }
}
