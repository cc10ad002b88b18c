// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.FerruleException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.Receiver;
import dev.ferrule.StandardOptions;
import dev.ferrule.rdma.connection.RdmaConnectionRequest.Objection;
import dev.ferrule.rdma.context.RdmaAddress;
import dev.ferrule.rdma.context.RdmaContext;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.support.AbstractListener;
import dev.ferrule.support.Deadlines;
import dev.ferrule.support.Threads;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.VerbsLibrary;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.CmId;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A listener on a port. */
final class RdmaListener extends AbstractListener<RdmaConnectionRequest> {

  /** The reasons sent to clients. They fit into every protocol's private data. */
  static final String CLOSED = "connection refused: the listener was closed";

  static final String BACKLOG_FULL =
      "connection refused: the listener's backlog is full (try again, or raise its option backlog)";

  /**
   * The limit of accepted clients that have not confirmed, each of which occupies memory. At the
   * limit, no thread begins to accept another client. A client counts once it is accepted, so n
   * threads may exceed the limit by n - 1. If other clients are waiting at the limit, the time to
   * confirm is shortened.
   */
  private static final int MAX_CONFIRMING = 16;

  private final RdmaProtocol protocol;
  private final RdmaAddress address;
  private final ResolvedOptions options;
  private final RdmaContext rdmaContext;
  private final CmId id;
  private final int backlog;
  private final Runnable tick = this::tick;

  private final LongSupplier clock; // of the confirmations
  private final ReceiveGroups groups;

  // All of these are guarded by this.
  private final ArrayDeque<RdmaConnectionRequest> waiting = new ArrayDeque<>();
  private final Set<RdmaConnectionRequest> unanswered = new LinkedHashSet<>();
  private final ArrayDeque<AcceptedClient> confirming = new ArrayDeque<>();
  private int accepting; // the number of threads in accept
  private boolean closed;
  private boolean deviceGone;

  private RdmaListener(
      RdmaProtocol protocol,
      RdmaAddress requested,
      ResolvedOptions options,
      RdmaContext rdmaContext,
      LongSupplier clock) {
    super(options, RdmaFailures.readiness(requested.uri(), options));
    this.clock = clock;
    this.protocol = protocol;
    this.options = options;
    this.rdmaContext = rdmaContext;
    this.groups = new ReceiveGroups(this, protocol, rdmaContext, options);
    this.backlog = options.get(StandardOptions.BACKLOG);
    InetSocketAddress where = requested.resolve();
    this.id = rdmaContext.createId(this::onEvent);
    try {
      id.bind(where);
      if (id.context().isEmpty() && !where.getAddress().isAnyLocalAddress()) {
        throw new InvalidAddressException(
            requested.uri(),
            "no RDMA device of this host has that address: use an address that ferrule doctor"
                + " shows, or 0.0.0.0 for all devices",
            null);
      }
      this.address = requested.withPort(id.port()); // before the first connect request
      id.listen(backlog);
      rdmaContext.addTick(tick);
    } catch (Throwable e) {
      rdmaContext.destroy(id);
      throw e;
    }
  }

  /**
   * Starts to listen.
   *
   * @param clock the clock for the time that accepted clients have to confirm, in nanoseconds
   */
  static RdmaListener listen(
      RdmaProtocol protocol,
      Supplier<VerbsLibrary> library,
      URI uri,
      ResolvedOptions options,
      LongSupplier clock) {
    RdmaAddress address = RdmaAddress.parse(uri);
    try {
      RdmaContext rdmaContext = RdmaContext.retain(library.get());
      try {
        return new RdmaListener(protocol, address, options, rdmaContext, clock);
      } catch (Throwable e) {
        rdmaContext.release();
        throw e;
      }
    } catch (VerbsException e) {
      throw RdmaFailures.of(uri, e);
    }
  }

  /** Called by the event loop. */
  private void onEvent(CmEvent event) {
    if (event.type() == CmEvent.Type.DEVICE_REMOVAL) {
      synchronized (this) {
        deviceGone = true;
        notifyAll();
        onClient();
      }
    }
    if (event.type() != CmEvent.Type.CONNECT_REQUEST) {
      return;
    }
    RdmaConnectionRequest request = new RdmaConnectionRequest(protocol, this, rdmaContext, options);
    request.own(rdmaContext.adopt(event, request::onEvent));
    try {
      request.read(event.privateData());
      takeRequest(request);
    } catch (Throwable e) {
      forget(request);
      request.refuse(Objection.to(e));
      throw e;
    }
  }

  private void takeRequest(RdmaConnectionRequest request) {
    Objection objection;
    synchronized (this) {
      objection = request.objection();
      if (closed) {
        objection = new Objection(Hello.Kind.REFUSE, CLOSED);
      } else if (objection == null && waiting.size() >= backlog) {
        objection = new Objection(Hello.Kind.REFUSE, BACKLOG_FULL);
      }
      if (objection == null) {
        waiting.add(request);
        unanswered.add(request);
        notifyAll();
        onClient();
        return;
      }
    }
    request.refuse(objection);
  }

  ReceiveGroups groups() {
    return groups;
  }

  @Override
  public Receiver receiver() {
    return groups.receiver(ownReadiness());
  }

  /** Removes a request that has been answered or whose client is gone. */
  synchronized void forget(RdmaConnectionRequest request) {
    unanswered.remove(request);
    waiting.remove(request);
  }

  synchronized boolean isClosed() {
    return closed;
  }

  /** Returns the exception for calls after the close. */
  ConnectionClosedException closed() {
    return closedException();
  }

  RdmaAddress address() {
    return address;
  }

  @Override
  public URI uri() {
    return address.uri();
  }

  @Override
  protected synchronized boolean hasClient() {
    return !waiting.isEmpty() || confirming.stream().anyMatch(AcceptedClient::isConfirmedOrFailed);
  }

  @Override
  protected @Nullable RdmaConnectionRequest awaitRequest(long deadline)
      throws InterruptedException {
    return await(waiting::poll, false, deadline);
  }

  /**
   * Accepts a client. While it takes long to confirm, accepts further clients, so a client that
   * never confirms does not block others. Returns the connection of the first client that confirms;
   * later calls return the others.
   */
  @Override
  protected @Nullable Connection acceptNext(long deadline) throws InterruptedException {
    countAccepting(1);
    try {
      while (true) {
        Supplier<@Nullable Connection> step = await(this::nextStep, true, deadline);
        if (step == null) {
          return null;
        }
        Connection connection = step.get();
        if (connection != null) {
          return connection;
        }
      }
    } finally {
      countAccepting(-1);
    }
  }

  private synchronized void countAccepting(int more) {
    accepting += more;
    notifyAll(); // the number of requests that may be accepted has changed
  }

  /**
   * Returns the next step of an accept: the end of an accept whose client has confirmed or failed
   * to, otherwise the accept of another client. Null if there is nothing to do. The caller holds
   * the lock of this object, and releases it before the step.
   */
  private @Nullable Supplier<@Nullable Connection> nextStep() {
    for (AcceptedClient client : confirming) {
      if (client.isConfirmedOrFailed()) {
        confirming.remove(client);
        return client::confirmed;
      }
    }
    RdmaConnectionRequest request = mayAcceptMore() ? waiting.poll() : null;
    return request == null
        ? null
        : () -> {
          addConfirming(request.answer(new byte[0]));
          return null;
        };
  }

  /**
   * Returns whether another client may be accepted. The number of unconfirmed clients that are not
   * overdue is limited to the number of threads in accept.
   */
  private boolean mayAcceptMore() {
    long now = now();
    if (confirming.size() >= MAX_CONFIRMING && !waiting.isEmpty()) {
      confirming.forEach(AcceptedClient::shortenTimeout);
    }
    long fresh = confirming.stream().filter(client -> client.overdueAt() - now > 0).count();
    return fresh < accepting && confirming.size() < MAX_CONFIRMING;
  }

  /** Returns the current time of the clock that measures the time to confirm, in nanoseconds. */
  long now() {
    return clock.getAsLong();
  }

  private void addConfirming(AcceptedClient client) {
    synchronized (this) {
      if (!closed) {
        confirming.add(client);
        return;
      }
    }
    client.close();
    throw closed();
  }

  /**
   * Waits until {@code client} returns a result; calls it under the lock of this object. Returns
   * null after the deadline.
   */
  private synchronized <T> @Nullable T await(
      Supplier<@Nullable T> client, boolean forAccept, long deadline) throws InterruptedException {
    while (!closed) {
      T next = client.get();
      if (next != null) {
        return next;
      }
      if (deviceGone) {
        throw new FerruleException(
            uri(), "the RDMA device is being removed from this host; close the listener", null);
      }
      long nanos = Deadlines.left(deadline);
      if (nanos <= 0) {
        return null;
      }
      AcceptedClient oldest = confirming.peek();
      if (forAccept && oldest != null) {
        // wakes up at its deadline, which causes no event, or when other clients may be accepted
        nanos =
            Math.min(nanos, Math.clamp(oldest.deadline() - now(), 1, AcceptedClient.OVERDUE_NANOS));
      }
      TimeUnit.NANOSECONDS.timedWait(this, nanos);
    }
    throw closed();
  }

  /**
   * Handles an event of a client. Called by the event loop.
   *
   * @param gone the client to release, which was accepted and has disconnected; null if there is
   *     none. It is released here, because the next accept may be much later
   */
  void onClientEvent(@Nullable AcceptedClient gone) {
    synchronized (this) {
      notifyAll();
      onClient();
      if (gone == null || !confirming.remove(gone)) {
        return;
      }
    }
    gone.giveUp();
  }

  /**
   * Releases clients whose disconnection caused no event on this side, because the next accept may
   * be much later. Called on each tick of the event loop.
   */
  private void tick() {
    List<AcceptedClient> overdue;
    List<AcceptedClient> silent;
    synchronized (this) {
      long now = now();
      overdue = confirming.stream().filter(client -> client.overdueAt() - now <= 0).toList();
      silent = overdue.stream().filter(AcceptedClient::isExpired).toList();
    }
    if (overdue.isEmpty()) {
      return;
    }
    // events that arrived in time count, even if this thread has not been scheduled since
    try {
      rdmaContext.takeWaitingEvents();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    overdue.forEach(AcceptedClient::drain);
    synchronized (this) {
      silent =
          silent.stream().filter(client -> client.isSilent() && confirming.remove(client)).toList();
      notifyAll(); // one of them may have confirmed
      onClient();
    }
    silent.forEach(AcceptedClient::giveUp);
  }

  /** Closes connections concurrently, as closing waits for each peer. */
  private static void closeConcurrently(List<AcceptedClient> clients) {
    List<Thread> threads =
        clients.stream()
            .map(client ->
                Thread.ofPlatform().daemon().name("ferrule-rdma close").start(client::close))
            .toList();
    threads.forEach(Threads::awaitEnd);
  }

  @Override
  public void close() {
    List<RdmaConnectionRequest> left;
    List<AcceptedClient> unconfirmed;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      left = new ArrayList<>(unanswered);
      unconfirmed = new ArrayList<>(confirming);
      waiting.clear();
      confirming.clear();
      notifyAll();
      onClient();
    }
    rdmaContext.removeTick(tick);
    left.forEach(request -> request.refuse(new Objection(Hello.Kind.REFUSE, CLOSED)));
    closeConcurrently(unconfirmed);
    groups.close();
    rdmaContext.destroy(id);
    rdmaContext.release();
    closeReadiness();
  }
}
