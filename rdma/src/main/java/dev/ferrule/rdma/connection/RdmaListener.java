// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.FerruleException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.Receiver;
import dev.ferrule.StandardOptions;
import dev.ferrule.rdma.connection.RdmaConnectionRequest.Objection;
import dev.ferrule.rdma.context.RdmaAddress;
import dev.ferrule.rdma.context.RdmaContext;
import dev.ferrule.rdma.context.SharedDevice;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.support.AbstractListener;
import dev.ferrule.support.Deadlines;
import dev.ferrule.support.ReadinessDescriptor;
import dev.ferrule.support.Threads;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.VerbsLibrary;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.CmId;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A listener on a port. */
final class RdmaListener extends AbstractListener<RdmaConnectionRequest> {

  /** The reasons sent to clients; they fit into every protocol's private data. */
  static final String CLOSED = "connection refused: the listener was closed";

  static final String BACKLOG_FULL =
      "connection refused: the listener's backlog is full (try again, or raise its option backlog)";

  /**
   * The maximum number of accepted clients that have not confirmed, as each occupies memory. If
   * other clients are waiting at this limit, the time to confirm is shortened.
   */
  private static final int MAX_CONFIRMING = 16;

  /** The time after which other clients are accepted although an accepted one has not confirmed. */
  static final long OVERDUE_NANOS = 100_000_000;

  private final RdmaProtocol protocol;
  private final RdmaAddress address;
  private final ConnectionOptions options;
  private final RdmaContext rdmaContext;
  private final CmId id;
  private final int backlog;
  private final Runnable tick = this::tick;

  private final LongSupplier clock; // of the confirmations
  private final Map<SharedDevice, ReceiveGroup> groups = new HashMap<>(); // guarded by itself
  private volatile ReceiveQueue[] commonQueues = {}; // of the groups
  private @Nullable ListenerReceiver receiver; // guarded by groups

  // All of these are guarded by this.
  private final ArrayDeque<RdmaConnectionRequest> waiting = new ArrayDeque<>();
  private final Set<RdmaConnectionRequest> unanswered = new LinkedHashSet<>();
  private final ArrayDeque<RdmaConnectionRequest> confirming = new ArrayDeque<>(); // accepted
  private int accepting; // the number of threads in accept
  private boolean closed;
  private boolean deviceGone;

  private RdmaListener(
      RdmaProtocol protocol,
      RdmaAddress requested,
      ConnectionOptions options,
      RdmaContext rdmaContext,
      LongSupplier clock) {
    super(options, readiness(requested.uri(), options));
    this.clock = clock;
    this.protocol = protocol;
    this.options = options;
    this.rdmaContext = rdmaContext;
    this.backlog = options.get(StandardOptions.BACKLOG);
    InetSocketAddress where = requested.resolve();
    this.id = rdmaContext.createId(this::onEvent);
    boolean done = false;
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
      done = true;
    } finally {
      if (!done) {
        rdmaContext.destroy(id);
      }
    }
  }

  private static @Nullable ReadinessDescriptor readiness(URI uri, ConnectionOptions options) {
    return ReadinessDescriptor.ifRequested(options, uri, () -> RdmaFailures.openEvent(uri));
  }

  static RdmaListener listen(
      RdmaProtocol protocol, Supplier<VerbsLibrary> library, URI uri, ConnectionOptions options) {
    return listen(protocol, library, uri, options, System::nanoTime);
  }

  /** For tests: with a clock for the time that accepted clients have to confirm. */
  static RdmaListener listen(
      RdmaProtocol protocol,
      Supplier<VerbsLibrary> library,
      URI uri,
      ConnectionOptions options,
      LongSupplier clock) {
    RdmaAddress address = RdmaAddress.parse(uri);
    boolean done = false;
    RdmaContext rdmaContext = null;
    try {
      rdmaContext = RdmaContext.retain(library.get());
      RdmaListener listener = new RdmaListener(protocol, address, options, rdmaContext, clock);
      done = true;
      return listener;
    } catch (VerbsException e) {
      throw RdmaFailures.of(uri, e);
    } finally {
      if (!done && rdmaContext != null) {
        rdmaContext.release();
      }
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

  /**
   * Returns the resources shared by the connections on a device, retained for the caller; null if
   * there are none. They are created for the first client, since the device is not known before.
   */
  @Nullable ReceiveGroup group(CmId client) {
    if (!protocol.sharesReceives(options) && !isSingleReceiver()) {
      return null;
    }
    SharedDevice device = rdmaContext.device(client);
    synchronized (groups) {
      if (isClosed()) {
        throw closedException();
      }
      ReceiveGroup group = groups.get(device);
      if (group == null) {
        group = new ReceiveGroup(protocol, rdmaContext, device, options);
        groups.put(device, group);
        findCommonQueues();
        ListenerReceiver known = receiver;
        if (known != null) {
          group.collect(known.multiplexer());
          known.wake(); // to poll its queue as well
        }
      }
      group.retain();
      return group;
    }
  }

  private boolean isSingleReceiver() {
    return RdmaOptions.isOn(options, RdmaOptions.SINGLE_RECEIVER);
  }

  @Override
  public Receiver receiver() {
    if (!isSingleReceiver()) {
      throw new IllegalStateException(
          "only a listener with the option singleReceiver=on receives for all its connections");
    }
    synchronized (groups) {
      ListenerReceiver known = receiver;
      if (known == null) {
        ListenerReceiver made = new ListenerReceiver(this, options.get(StandardOptions.WAIT));
        ReadinessDescriptor descriptor = ownReadiness();
        if (descriptor != null) {
          made.receiver().showMessages(descriptor);
        }
        groups.values().forEach(group -> group.collect(made.multiplexer()));
        receiver = made;
        known = made;
      }
      return known.receiver().checked();
    }
  }

  private void findCommonQueues() {
    commonQueues = groups.values().stream().map(ReceiveGroup::queue).toArray(ReceiveQueue[]::new);
  }

  /**
   * Returns the queues that the connections share, one for each device. The caller must not modify
   * the array.
   */
  ReceiveQueue[] commonQueues() {
    return commonQueues;
  }

  /** Removes a request that is answered or whose client is gone. */
  synchronized void forget(RdmaConnectionRequest request) {
    unanswered.remove(request);
    waiting.remove(request);
  }

  synchronized boolean isClosed() {
    return closed;
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
    return !waiting.isEmpty() || confirming.stream().anyMatch(RdmaConnectionRequest::isDecided);
  }

  @Override
  protected @Nullable RdmaConnectionRequest awaitRequest(long deadline)
      throws InterruptedException {
    return await(false, deadline);
  }

  /**
   * Accepts a client, and further ones while it takes long to confirm, so a client that never
   * confirms does not block others. Returns the first that confirms; the others are left for the
   * next call.
   */
  @Override
  protected @Nullable Connection acceptNext(long deadline) throws InterruptedException {
    countAccepting(1);
    try {
      while (true) {
        RdmaConnectionRequest request = await(true, deadline);
        if (request == null) {
          return null;
        }
        if (request.isAccepted()) {
          return request.confirmed();
        }
        request.answer(new byte[0]);
        addConfirming(request);
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
   * Returns a request that has confirmed or failed to, or else one to accept. Under the listener's
   * lock.
   */
  private @Nullable RdmaConnectionRequest nextToAccept() {
    for (RdmaConnectionRequest request : confirming) {
      if (request.isDecided()) {
        confirming.remove(request);
        return request;
      }
    }
    return mayAcceptMore() ? waiting.poll() : null;
  }

  /**
   * Returns whether another client may be accepted: at most as many as threads are waiting to
   * return one, not counting those that are overdue.
   */
  private boolean mayAcceptMore() {
    long now = now();
    if (confirming.size() >= MAX_CONFIRMING && !waiting.isEmpty()) {
      confirming.forEach(RdmaConnectionRequest::shortenTimeout);
    }
    long fresh = confirming.stream().filter(request -> request.overdueAt() - now > 0).count();
    return fresh < accepting && confirming.size() < MAX_CONFIRMING;
  }

  /** Returns the time by which the time to confirm is measured, in nanoseconds. */
  long now() {
    return clock.getAsLong();
  }

  private void addConfirming(RdmaConnectionRequest request) {
    synchronized (this) {
      if (!closed) {
        confirming.add(request);
        return;
      }
    }
    request.dismiss();
    throw closedException();
  }

  /** Waits for a waiting request or, for accept, for the next request to accept or return. */
  private synchronized @Nullable RdmaConnectionRequest await(boolean forAccept, long deadline)
      throws InterruptedException {
    while (!closed) {
      RdmaConnectionRequest next = forAccept ? nextToAccept() : waiting.poll();
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
      RdmaConnectionRequest oldest = confirming.peek();
      if (forAccept && oldest != null) {
        // wake up when its time is over, which causes no event, or when others may be accepted
        nanos = Math.min(nanos, Math.clamp(oldest.deadline() - now(), 1, OVERDUE_NANOS));
      }
      TimeUnit.NANOSECONDS.timedWait(this, nanos);
    }
    throw closedException();
  }

  /**
   * Called on an event of an accepted client. Releases it if it has disconnected: the next accept
   * may be a long time away.
   */
  void onClientEvent(RdmaConnectionRequest client, boolean hasGivenUp) {
    synchronized (this) {
      notifyAll();
      onClient();
      if (!hasGivenUp || !confirming.remove(client)) {
        return;
      }
    }
    client.giveUp();
  }

  /**
   * Releases clients whose disconnection caused no event here: the next accept may be a long time
   * away. Called on each tick of the event loop.
   */
  private void giveUpSilent() throws InterruptedException {
    List<RdmaConnectionRequest> overdue;
    List<RdmaConnectionRequest> silent;
    synchronized (this) {
      long now = now();
      overdue = confirming.stream().filter(request -> request.overdueAt() - now <= 0).toList();
      silent = overdue.stream().filter(RdmaConnectionRequest::isExpired).toList();
    }
    if (overdue.isEmpty()) {
      return;
    }
    // events that arrived in time count, even if this thread was not scheduled since
    rdmaContext.takeWaitingEvents();
    overdue.forEach(RdmaConnectionRequest::drain);
    synchronized (this) {
      silent =
          silent.stream()
              .filter(request -> request.isSilent() && confirming.remove(request))
              .toList();
      notifyAll(); // one of them may have confirmed
      onClient();
    }
    silent.forEach(RdmaConnectionRequest::giveUp);
  }

  private void tick() {
    try {
      giveUpSilent();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Closes connections concurrently, as closing waits for each peer. */
  private static void dismiss(List<RdmaConnectionRequest> clients) {
    List<Thread> threads =
        clients.stream()
            .map(client ->
                Thread.ofPlatform().daemon().name("ferrule-rdma dismiss").start(client::dismiss))
            .toList();
    threads.forEach(Threads::awaitEnd);
  }

  @Override
  public void close() {
    List<RdmaConnectionRequest> left;
    List<RdmaConnectionRequest> unconfirmed;
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
    dismiss(unconfirmed);
    synchronized (groups) {
      groups.values().forEach(ReceiveGroup::release);
      groups.clear();
      findCommonQueues();
      if (receiver != null) {
        receiver.close();
      }
    }
    rdmaContext.destroy(id);
    rdmaContext.release();
    closeReadiness();
  }
}
