// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import java.time.Duration;

/**
 * What the control thread keeps of a connection: how to reach its peer, and when the peer was heard
 * of. Only that thread uses the times.
 */
final class LinkState {

  /** A silent peer is asked so often before it counts as lost. */
  private static final int KEEPALIVES_PER_TIMEOUT = 4;

  private final Link link;
  private final Peer peer;
  private final long timeoutNanos;
  private long lastHeard = System.nanoTime();
  private long lastTick = lastHeard;
  private boolean watched = true;
  private boolean wantsRoom;
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

  /** Whether the poll watches the peer's FIFO; it no longer does when the peer is gone. */
  boolean watched() {
    return watched;
  }

  void unwatch() {
    watched = false;
  }

  /** Whether the peer's FIFO has no reader any more. */
  boolean isGone() {
    return gone;
  }

  void setGone() {
    gone = true;
  }

  /** Whether the poll also waits for room in the peer's FIFO. */
  boolean wantsRoom() {
    return wantsRoom;
  }

  void setWantsRoom(boolean wanted) {
    wantsRoom = wanted;
  }

  void heard(long now) {
    lastHeard = now;
  }

  /**
   * How often {@link #tick} is to be called, in nanoseconds; Long.MAX_VALUE if the peer may be
   * silent for ever.
   */
  long interval() {
    return timeoutNanos == 0 ? Long.MAX_VALUE : Math.max(1, timeoutNanos / KEEPALIVES_PER_TIMEOUT);
  }

  void tick(long now) {
    if (timeoutNanos == 0 || !watched || now - lastTick < interval()) {
      return;
    }
    if (now - lastTick > 2 * interval()) {
      // this process was stopped itself, and so has not read what the peer may have answered
      lastHeard = now;
    }
    lastTick = now;
    if (now - lastHeard > timeoutNanos) {
      link.onPeerSilent();
    } else {
      peer.askWhetherAlive();
    }
  }
}
