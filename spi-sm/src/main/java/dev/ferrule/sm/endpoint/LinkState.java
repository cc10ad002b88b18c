// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.posix.EventPoll;
import java.time.Duration;

/**
 * The control thread's state of a connection: its peer, and since when the peer has not answered.
 * Only that thread uses the times.
 */
final class LinkState {

  /** Number of keepalives sent to a silent peer before it counts as lost. */
  private static final int KEEPALIVES_PER_TIMEOUT = 4;

  private final Link link;
  private final Peer peer;
  private final long timeoutNanos;
  private long lastTick = System.nanoTime();
  private boolean unanswered; // whether the peer has written nothing since a keepalive
  private long unansweredSince; // when the first of these keepalives was sent
  private volatile boolean established;
  private boolean counts; // whether the peer's silence is counted
  private boolean watched = true; // whether the poll watches the peer's FIFO
  private boolean awaitsRoom;
  private boolean gone;

  LinkState(Link link, Peer peer, Duration peerTimeout) {
    this.link = link;
    this.peer = peer;
    this.timeoutNanos = peerTimeout.toNanos();
  }

  Link link() {
    return link;
  }

  Peer peer() {
    return peer;
  }

  /** Stops watching the peer's FIFO. */
  synchronized void unwatch(EventPoll poll) {
    if (watched) {
      watched = false;
      poll.remove(peer.fd());
    }
  }

  /** Writes the peer's pending headers; has the poll wait for room if its FIFO is still full. */
  void writePending(EventPoll poll, int id) {
    boolean isFull = !peer.writePending();
    synchronized (this) {
      if (watched && awaitsRoom != isFull) {
        poll.setRoomWanted(peer.fd(), id, isFull);
        awaitsRoom = isFull;
      }
    }
  }

  /** Handles the end of the peer's FIFO, which has lost its reader. */
  void endOfPeer(EventPoll poll) {
    gone = true;
    unwatch(poll);
    link.onPeerGone();
  }

  /** Returns whether {@link #endOfPeer} was called. */
  boolean isGone() {
    return gone;
  }

  /** Counts the peer's silence from now on, as both sides have the connection. By any thread. */
  void establish() {
    established = true;
  }

  /** Handles a header from the peer. */
  void heard() {
    unanswered = false;
  }

  /** Returns the interval at which {@link #tick} must be called, or more often; or NEVER. */
  long interval() {
    return timeoutNanos == 0
        ? EndpointLoop.NEVER
        : Math.max(1, timeoutNanos / KEEPALIVES_PER_TIMEOUT);
  }

  void tick(long now) {
    // Not the whole interval: if the ticks of another connection come a little more often, every
    // second one would be missed.
    if (timeoutNanos == 0 || !watched || now - lastTick < interval() / 2) {
      return;
    }
    if (!counts || now - lastTick > 2 * interval()) {
      // the peer may not serve the connection yet; or this process was stopped itself, and read no
      // answers during that time
      unanswered = false;
      counts = established;
    }
    lastTick = now;
    if (!unanswered) {
      unanswered = true;
      unansweredSince = now; // not the time of the last answer: a peer that stops later is kept
    }
    if (now - unansweredSince >= timeoutNanos) {
      link.onPeerSilent();
    } else {
      peer.sendKeepalive();
    }
  }
}
