// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.FerruleException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.Receiver;
import dev.ferrule.StandardOptions;
import dev.ferrule.spi.AbstractListener;
import dev.ferrule.spi.Threads;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.VerbsLibrary;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.connection.RdmaConnectionRequest.Objection;
import dev.ferrule.verbs.endpoint.Fabric;
import dev.ferrule.verbs.endpoint.FabricDevice;
import dev.ferrule.verbs.endpoint.RdmaAddress;
import dev.ferrule.verbs.queue.ReceiveQueue;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A port at which clients are accepted. */
final class RdmaListener extends AbstractListener<RdmaConnectionRequest> {

  /**
   * Clients that are accepted and have not confirmed that, at a time: each has its memory. If
   * others wait behind so many, those have less time to confirm.
   */
  private static final int MAX_CONFIRMING = 16;

  /** A client that has not confirmed by then has others accepted beside it. */
  static final long OVERDUE_NANOS = 100_000_000;

  private final RdmaProtocol protocol;
  private final RdmaAddress address;
  private final ConnectionOptions options;
  private final Fabric fabric;
  private final CmId id;
  private final int backlog;
  private final Runnable tick = this::tick;

  private final Map<FabricDevice, ReceiveGroup> groups = new HashMap<>(); // under its own lock
  private volatile ReceiveQueue[] commonQueues = {}; // those of the groups
  private @Nullable ListenerReceiver receiver; // under the lock of groups

  // All of these under the listener's own lock.
  private final ArrayDeque<RdmaConnectionRequest> waiting = new ArrayDeque<>();
  private final Set<RdmaConnectionRequest> unanswered = new LinkedHashSet<>();
  private final ArrayDeque<RdmaConnectionRequest> confirming = new ArrayDeque<>(); // accepted
  private int accepting; // threads in accept
  private boolean closed;
  private boolean deviceGone;

  private RdmaListener(
      RdmaProtocol protocol, RdmaAddress wanted, ConnectionOptions options, Fabric fabric) {
    super(options);
    this.protocol = protocol;
    this.options = options;
    this.fabric = fabric;
    this.backlog = options.get(StandardOptions.BACKLOG);
    InetSocketAddress where = wanted.resolve();
    this.id = fabric.createId(this::onEvent);
    boolean done = false;
    try {
      id.bind(where);
      if (id.context().isEmpty() && !where.getAddress().isAnyLocalAddress()) {
        throw new InvalidAddressException(
            wanted.uri(),
            "no RDMA device of this host has that address: write one that ferrule doctor shows, or"
                + " 0.0.0.0 for those of all devices",
            null);
      }
      this.address = wanted.withPort(id.port()); // which the first client's request needs
      id.listen(backlog);
      fabric.addTick(tick);
      done = true;
    } finally {
      if (!done) {
        fabric.destroy(id);
      }
    }
  }

  static RdmaListener listen(
      RdmaProtocol protocol, Supplier<VerbsLibrary> library, URI uri, ConnectionOptions options) {
    RdmaAddress address = RdmaAddress.parse(uri);
    boolean done = false;
    Fabric fabric = null;
    try {
      fabric = Fabric.retain(library.get());
      RdmaListener listener = new RdmaListener(protocol, address, options, fabric);
      done = true;
      return listener;
    } catch (VerbsException e) {
      throw RdmaFailures.of(uri, e);
    } finally {
      if (!done && fabric != null) {
        fabric.release();
      }
    }
  }

  /** Called by the fabric's thread. */
  private void onEvent(CmEvent event) {
    if (event.type() == CmEvent.Type.DEVICE_REMOVAL) {
      synchronized (this) {
        deviceGone = true;
        notifyAll();
      }
    }
    if (event.type() != CmEvent.Type.CONNECT_REQUEST) {
      return;
    }
    RdmaConnectionRequest request = new RdmaConnectionRequest(protocol, this, fabric, options);
    CmId client = fabric.adopt(event, request::onEvent);
    request.begin(client, event.privateData());
    Objection objection;
    synchronized (this) {
      objection = request.objection();
      if (closed) {
        objection = new Objection(Hello.Kind.REFUSE, "the listener was closed");
      } else if (objection == null && waiting.size() >= backlog) {
        objection =
            new Objection(
                Hello.Kind.REFUSE,
                "too many clients wait already; see the listener's option backlog");
      }
      if (objection == null) {
        waiting.add(request);
        unanswered.add(request);
        notifyAll();
        return;
      }
    }
    request.refuse(objection.kind(), objection.reason());
  }

  /**
   * What the connections on a device share, retained for the caller; null if nothing. Made when the
   * first client comes, for only then it is known on which device.
   */
  @Nullable ReceiveGroup group(CmId client) {
    if (!protocol.sharesReceives(options) && !isSingleReceiver()) {
      return null;
    }
    FabricDevice device = fabric.device(client);
    synchronized (groups) {
      if (isClosed()) {
        throw closedException();
      }
      ReceiveGroup group = groups.get(device);
      if (group == null) {
        group = new ReceiveGroup(protocol, fabric, device, options);
        groups.put(device, group);
        findCommonQueues();
        ListenerReceiver known = receiver;
        if (known != null) {
          group.collect(known.arrivals());
          known.wake(); // to look there, too
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
        groups.values().forEach(group -> group.collect(made.arrivals()));
        receiver = made;
        known = made;
      }
      return known.receiver().checked();
    }
  }

  private void findCommonQueues() {
    commonQueues = groups.values().stream().map(ReceiveGroup::queue).toArray(ReceiveQueue[]::new);
  }

  /** The queues that all connections share, one for each device; not to be changed. */
  ReceiveQueue[] commonQueues() {
    return commonQueues;
  }

  /** The request is answered, or its client gone. */
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
  protected @Nullable RdmaConnectionRequest awaitRequest(boolean bounded, long deadline)
      throws InterruptedException {
    return await(false, bounded, deadline);
  }

  /**
   * Accepts a client, and another one if the first takes long to confirm; so one that never does
   * keeps nobody waiting. Returns the one that confirms first; what is left is the next call's.
   */
  @Override
  protected @Nullable Connection acceptNext(boolean bounded, long deadline)
      throws InterruptedException {
    countAccepting(1);
    try {
      while (true) {
        RdmaConnectionRequest request = await(true, bounded, deadline);
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
    notifyAll(); // there may be more to do for those who are left, or less
  }

  /** One that has confirmed or failed to, or else one that waits. Under the listener's lock. */
  private @Nullable RdmaConnectionRequest nextToAccept() {
    for (RdmaConnectionRequest request : confirming) {
      if (request.isSettled()) {
        confirming.remove(request);
        return request;
      }
    }
    return mayAcceptMore() ? waiting.poll() : null;
  }

  /** Nobody is let in whom no thread is about to return, but in place of one that is overdue. */
  private boolean mayAcceptMore() {
    long now = System.nanoTime();
    if (confirming.size() >= MAX_CONFIRMING && !waiting.isEmpty()) {
      confirming.forEach(RdmaConnectionRequest::hurry);
    }
    long fresh = confirming.stream().filter(request -> request.overdueAt() - now > 0).count();
    return fresh < accepting && confirming.size() < MAX_CONFIRMING;
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

  /** Waits until there is a request that waits, or else one for whoever accepts. */
  private synchronized @Nullable RdmaConnectionRequest await(
      boolean forAccept, boolean bounded, long deadline) throws InterruptedException {
    while (!closed) {
      RdmaConnectionRequest next = forAccept ? nextToAccept() : waiting.poll();
      if (next != null) {
        return next;
      }
      if (deviceGone) {
        throw new FerruleException(
            uri(), "the RDMA device is being removed from this host; close the listener", null);
      }
      long now = System.nanoTime();
      if (bounded && deadline - now <= 0) {
        return null;
      }
      long nanos = bounded ? deadline - now : Long.MAX_VALUE;
      RdmaConnectionRequest oldest = confirming.peek();
      if (forAccept && oldest != null) {
        // it may end before it has confirmed, which nobody tells; or others have their turn
        nanos = Math.min(nanos, Math.clamp(oldest.deadline() - now, 1, OVERDUE_NANOS));
      }
      TimeUnit.NANOSECONDS.timedWait(this, nanos);
    }
    throw closedException();
  }

  /**
   * Something was heard of a client that was accepted. One that has given up is not kept until
   * somebody accepts again.
   */
  void clientHeard(RdmaConnectionRequest client, boolean hasGivenUp) {
    synchronized (this) {
      notifyAll();
      if (!hasGivenUp || !confirming.remove(client)) {
        return;
      }
    }
    client.giveUp();
  }

  /**
   * A client may have given up without a word that arrives; what was made for it is not kept until
   * somebody accepts again. Called now and then, by the fabric's thread.
   */
  private void giveUpSilent() throws InterruptedException {
    List<RdmaConnectionRequest> overdue;
    List<RdmaConnectionRequest> silent;
    synchronized (this) {
      long now = System.nanoTime();
      overdue = confirming.stream().filter(request -> request.overdueAt() - now <= 0).toList();
      silent = overdue.stream().filter(RdmaConnectionRequest::isOverdueForGood).toList();
    }
    if (overdue.isEmpty()) {
      return;
    }
    // what was there in time counts, also if this thread had no processor since
    fabric.takeWaitingEvents();
    overdue.forEach(RdmaConnectionRequest::drain);
    synchronized (this) {
      silent =
          silent.stream()
              .filter(request -> request.isSilent() && confirming.remove(request))
              .toList();
      notifyAll(); // one of them may have been heard of
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

  /** Each takes its time to hear of it, so they hear of it at the same time. */
  private static void dismiss(List<RdmaConnectionRequest> clients) {
    List<Thread> threads =
        clients.stream()
            .map(
                client ->
                    Thread.ofPlatform()
                        .daemon()
                        .name("ferrule-rdma dismiss")
                        .start(client::dismiss))
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
    }
    fabric.removeTick(tick);
    left.forEach(request -> request.refuse(Hello.Kind.REFUSE, "the listener was closed"));
    dismiss(unconfirmed);
    synchronized (groups) {
      groups.values().forEach(ReceiveGroup::release);
      groups.clear();
      findCommonQueues();
      if (receiver != null) {
        receiver.close();
      }
    }
    fabric.destroy(id);
    fabric.release();
  }
}
