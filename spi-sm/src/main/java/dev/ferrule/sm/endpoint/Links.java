// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.posix.EventPoll;
import dev.ferrule.spi.ConnectionSample;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Serves the connections of an endpoint: handles the headers from their peers, serves fragments,
 * sends keepalives, and detects that a peer's process has ended.
 *
 * <p><b>Threads:</b> any thread may call {@link #add}, {@link #has}, {@link #established}, {@link
 * #remove} and {@link #onFullFifo}; the other methods are confined to the endpoint's thread.
 */
final class Links {

  private static final long NEVER = EndpointLoop.NEVER;

  private final EventPoll poll;
  private final Guard guard;
  private final Map<Integer, LinkState> all = new ConcurrentHashMap<>();
  private final ArrayDeque<Link> busy = new ArrayDeque<>(); // with pending fragments
  private boolean fullCheckNeeded; // whether all links must be checked
  private final KeepaliveSchedule keepalives = new KeepaliveSchedule();
  private boolean countersRequested; // by a tool
  private volatile boolean headersPending; // a peer's FIFO was full, so that a header is pending

  Links(EventPoll poll, Guard guard) {
    this.poll = poll;
    this.guard = guard;
  }

  boolean has(int id) {
    return all.containsKey(id);
  }

  /** See {@link Endpoint#addLink}. */
  void add(int id, Link link, Peer peer, Duration peerTimeout) {
    LinkState state = new LinkState(link, peer, peerTimeout);
    all.put(id, state);
    try {
      poll.addBroken(peer.fd(), id);
    } catch (Throwable e) {
      all.remove(id);
      throw e;
    }
    if (keepalives.add(state.interval(), System.nanoTime())) {
      poll.wake();
    }
  }

  /** See {@link Endpoint#established}. */
  void established(int id) {
    LinkState state = all.get(id);
    if (state != null) {
      state.establish();
    }
  }

  /** Stops serving a connection. Must be called before its peer is closed. */
  void remove(int id) {
    LinkState state = all.remove(id);
    if (state != null) {
      state.unwatch(poll);
    }
  }

  /** See {@link Endpoint#onFullFifo}. */
  void onFullFifo() {
    headersPending = true;
    poll.wake();
  }

  /** Marks all work as due: some of it may have been dequeued but not done. Allocates nothing. */
  void repeatAll() {
    headersPending = true;
    fullCheckNeeded = true;
    keepalives.repeat();
  }

  /** Has all links checked, since a header may have been lost. */
  void requestFullCheck() {
    fullCheckNeeded = true;
  }

  /** Returns whether there is more to do now. */
  boolean isPending() {
    return fullCheckNeeded || !busy.isEmpty();
  }

  /** Returns whether headers are pending for which the poll may not report room. */
  boolean isWritePending() {
    return headersPending;
  }

  /** Returns when the next keepalives are due, by System.nanoTime. */
  long keepalivesAt() {
    return keepalives.next();
  }

  /** Handles an event of a peer's FIFO: its reader is gone, or there is room. */
  void handle(int id, boolean broken) {
    LinkState state = all.get(id);
    if (state != null && broken) {
      state.endOfPeer(poll);
    } else if (state != null) {
      state.writePending(poll, id);
    }
  }

  /** Does the work that is due without an event. */
  void work() {
    if (headersPending) {
      headersPending = false;
      all.forEach((id, state) -> guard.run(() -> writePending(id, state)));
    }
    if (fullCheckNeeded) {
      fullCheckNeeded = false;
      checkAll();
    }
    serveBusy();
    long now = System.nanoTime();
    if (keepalives.begin(now)) {
      keepalives.end(tick(now));
    }
  }

  /** Writes a peer's pending headers; marks them as due again if the poll cannot wait for room. */
  private void writePending(int id, LinkState state) {
    boolean done = false;
    try {
      state.writePending(poll, id);
      done = true;
    } finally {
      if (!done) {
        headersPending = true;
      }
    }
  }

  /** Checks all links, since a header may have been lost. */
  private void checkAll() {
    for (LinkState state : all.values()) {
      guard.run(() -> check(state));
    }
  }

  private void check(LinkState state) {
    Link link = state.link();
    if (state.isGone()) {
      link.onPeerGone();
    }
    link.onWakeup();
    link.onPeerClosed();
    serveFragments(link);
  }

  /** Serves one batch of a link's fragments; a link with more is queued behind the others. */
  private void serveFragments(Link link) {
    if (link.onFragments() && !busy.contains(link)) {
      busy.add(link);
    }
  }

  private void serveBusy() {
    for (int i = busy.size(); i > 0; i--) {
      Link link = busy.remove();
      guard.run(() -> serveFragments(link));
    }
  }

  /** Handles a header. A header that may be damaged causes all links to be checked. */
  void handleHeader(int header) {
    if (header == FifoHeader.of(FifoHeader.COUNTERS, 0)) {
      countersRequested = true;
      return;
    }
    LinkState state = all.get(FifoHeader.connection(header));
    if (state == null) {
      fullCheckNeeded = true; // of a connection that was closed meanwhile, or garbage
      return;
    }
    state.heard();
    int type = FifoHeader.type(header);
    if (type != FifoHeader.RMA || !state.link().hasFragments()) {
      // For any type, because a superfluous check is cheap; but not for each fragment.
      state.link().onWakeup();
    }
    switch (type) {
      case FifoHeader.KEEPALIVE -> state.peer().answerKeepalive();
      case FifoHeader.CLOSED -> state.link().onPeerClosed();
      case FifoHeader.RMA -> serveFragments(state.link());
      case FifoHeader.WAKEUP, FifoHeader.KEEPALIVE_REPLY, FifoHeader.RMA_ACK -> {}
      default -> fullCheckNeeded = true; // of a later version, or garbage
    }
  }

  /** Returns whether a tool has requested the counters since the last call. */
  boolean takeCountersRequest() {
    boolean requested = countersRequested;
    countersRequested = false;
    return requested;
  }

  /** Returns the counters of all connections. */
  List<ConnectionSample> sample() {
    long now = System.nanoTime();
    List<ConnectionSample> samples = new ArrayList<>();
    all.forEach((id, state) -> guard.run(() -> samples.add(state.link().sample(id, now))));
    return samples;
  }

  /** Sends keepalives; returns when the next call is due. */
  private long tick(long now) {
    long interval = NEVER;
    for (LinkState state : all.values()) {
      guard.run(() -> state.tick(now));
      interval = Math.min(interval, state.interval());
    }
    return interval == NEVER ? NEVER : now + interval;
  }
}
