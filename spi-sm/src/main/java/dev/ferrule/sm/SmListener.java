// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.AddressInUseException;
import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.StandardOptions;
import dev.ferrule.sm.endpoint.Acceptor;
import dev.ferrule.sm.endpoint.Endpoint;
import dev.ferrule.sm.endpoint.ServerHandshake;
import dev.ferrule.sm.endpoint.SmAddress;
import dev.ferrule.sm.os.PosixException;
import dev.ferrule.spi.AbstractListener;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** An endpoint at which clients are accepted. */
final class SmListener extends AbstractListener<SmConnectionRequest> {

  private final Endpoint endpoint;
  private final Acceptor acceptor;
  private final ConnectionOptions options;
  private final AtomicBoolean closed = new AtomicBoolean();

  private SmListener(Endpoint endpoint, Acceptor acceptor, ConnectionOptions options) {
    super(options);
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
  protected @Nullable SmConnectionRequest awaitRequest(boolean bounded, long deadline)
      throws InterruptedException {
    ServerHandshake handshake = acceptor.next(bounded, deadline);
    if (handshake == null && acceptor.isClosed()) {
      throw closedException();
    }
    return handshake == null ? null : new SmConnectionRequest(endpoint, handshake, options);
  }

  @Override
  protected @Nullable Connection acceptNext(boolean bounded, long deadline)
      throws InterruptedException {
    SmConnectionRequest request = awaitRequest(bounded, deadline);
    if (request == null) {
      return null;
    }
    long patience = confirmationDeadline();
    return request.accept(new byte[0], bounded && deadline - patience < 0 ? deadline : patience);
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
