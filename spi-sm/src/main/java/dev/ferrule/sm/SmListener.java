// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.AddressInUseException;
import dev.ferrule.Connection;
import dev.ferrule.Receiver;
import dev.ferrule.StandardOptions;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.endpoint.Acceptor;
import dev.ferrule.sm.endpoint.Endpoint;
import dev.ferrule.sm.endpoint.ServerHandshake;
import dev.ferrule.sm.endpoint.SmAddress;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.support.AbstractListener;
import dev.ferrule.support.ReadinessDescriptor;
import dev.ferrule.support.SingleThreadedUse;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** An endpoint at which clients are accepted. */
final class SmListener extends AbstractListener<SmConnectionRequest> {

  private final Endpoint endpoint;
  private final Acceptor acceptor;
  private final ResolvedOptions options;
  private final Facilities facilities;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final @Nullable SmListenerReceiver receiver; // if the options request one
  private final @Nullable Receiver checkedReceiver; // as passed to the program

  /** The connections offered to clients, until accept returns them. */
  private final Map<ServerHandshake, SmConnection> offered = new ConcurrentHashMap<>();

  private SmListener(
      Endpoint endpoint, Acceptor acceptor, ResolvedOptions options, Facilities facilities) {
    super(options, readiness(endpoint.address().uri(), options));
    this.endpoint = endpoint;
    this.acceptor = acceptor;
    this.options = options;
    this.facilities = facilities;
    this.receiver =
        options.get(SmOptions.SINGLE_RECEIVER)
            ? new SmListenerReceiver(this, options, SmConnection.SECOND_CHECK_NANOS)
            : null;
    acceptor.onClient(this::onClient);
    this.checkedReceiver =
        receiver == null
            ? null
            : new SingleThreadedUse(() -> "the receiver of the listener " + uri()).check(receiver);
  }

  private static @Nullable ReadinessDescriptor readiness(URI uri, ResolvedOptions options) {
    return ReadinessDescriptor.ifRequested(options, uri, () -> Failures.openEvent(uri));
  }

  static SmListener listen(URI uri, ResolvedOptions options, Facilities facilities) {
    SmAddress address = SmAddress.parse(uri);
    SmOptions.layout(uri, options); // reports an invalid option here, not at the first client
    try {
      Endpoint endpoint = Endpoint.open(address, options.get(SmOptions.ACCESS));
      if (endpoint == null) {
        throw new AddressInUseException(
            uri,
            "address in use: a live process owns the endpoint; close its listener and connections,"
                + " or use another number",
            null);
      }
      try {
        Acceptor acceptor = endpoint.listen(options.get(StandardOptions.BACKLOG));
        return new SmListener(endpoint, acceptor, options, facilities);
      } catch (Throwable e) {
        endpoint.release();
        throw e;
      }
    } catch (PosixException e) {
      throw Failures.of(uri, e);
    } catch (IOException e) {
      throw Failures.of(uri, e);
    }
  }

  @Override
  public Receiver receiver() {
    SmListenerReceiver common = receiver;
    Receiver checked = checkedReceiver;
    if (common == null || checked == null) {
      throw new IllegalStateException(
          "Listener.receiver() requires the listener's option singleReceiver=on");
    }
    common.begin(ownReadiness());
    return checked;
  }

  /** Registers a connection that is about to be returned. */
  void accepted(SmConnection connection) {
    if (receiver != null) {
      receiver.accepted(connection);
    }
  }

  @Override
  public URI uri() {
    return endpoint.address().uri();
  }

  @Override
  protected @Nullable SmConnectionRequest awaitRequest(long deadline) throws InterruptedException {
    ServerHandshake handshake = acceptor.next(deadline);
    if (handshake == null && acceptor.isClosed()) {
      throw closedException();
    }
    return handshake == null ? null : request(handshake);
  }

  @Override
  protected boolean hasClient() {
    return acceptor.hasClient();
  }

  private SmConnectionRequest request(ServerHandshake handshake) {
    return new SmConnectionRequest(this, endpoint, handshake, options, facilities);
  }

  /**
   * Offers a connection to the next client, and one to another client if the first is slow to
   * confirm. Returns the one that is confirmed first; the others are left to the next call.
   */
  @Override
  protected @Nullable Connection acceptNext(long deadline) throws InterruptedException {
    acceptor.beginAccepting();
    try {
      while (true) {
        ServerHandshake handshake = acceptor.nextToAccept(deadline);
        if (handshake == null && acceptor.isClosed()) {
          throw closedException();
        }
        if (handshake == null) {
          return null;
        }
        SmConnectionRequest request = request(handshake);
        if (handshake.isConfirmed()) {
          SmConnection connection = offered.remove(handshake);
          if (connection == null) {
            throw closedException(); // by another thread
          }
          request.confirmed(connection);
          return connection;
        }
        offer(handshake, request);
      }
    } finally {
      acceptor.endAccepting();
    }
  }

  private void offer(ServerHandshake handshake, SmConnectionRequest request) {
    try {
      request.offer(confirmationDeadline());
    } catch (Throwable e) {
      offered.remove(handshake);
      throw e;
    }
  }

  /** Registers a connection that is about to be offered to a client. */
  void offering(ServerHandshake handshake, SmConnection connection) {
    offered.put(handshake, connection);
  }

  /** Handles the confirmation of an offered connection, or the failure to confirm. */
  void resolved(ServerHandshake handshake) {
    SmConnection connection = handshake.isConfirmed() ? null : offered.remove(handshake);
    if (connection != null) {
      connection.close(); // notifies the client too, in case only its confirmation was lost
    }
  }

  /** Withdraws the offer to an overdue client; returns whether there was one. */
  boolean withdrawOverdue() {
    return acceptor.withdrawOverdue();
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      if (receiver != null) {
        receiver.end();
      }
      try {
        acceptor.close();
        // A thread that offers a connection from now on finds the acceptor closed and closes that
        // connection; resolved() closes those whose handshake fails concurrently.
        for (ServerHandshake each : List.copyOf(offered.keySet())) {
          SmConnection connection = offered.remove(each);
          if (connection != null) {
            connection.close();
          }
        }
      } finally {
        endpoint.release();
        closeReadiness();
      }
    }
  }
}
