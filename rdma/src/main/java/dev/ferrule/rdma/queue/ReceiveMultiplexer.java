// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Serves the connections of a common receiver in rotation; they may be on several devices. Messages
 * stay in the queues of their connections, which cannot overflow. This class keeps a list of the
 * connections with messages; a connection is in it at most once. The receiver takes a few messages
 * of each connection in rotation, so no connection starves others. A connection without messages
 * leaves the list, and its freed buffer space is then made available to its peer. It returns when
 * messages arrive or are freed. No method allocates.
 *
 * <p><b>Threads:</b> any number of threads that poll receive queues add connections; one receiver
 * takes messages; any thread may end it.
 */
public final class ReceiveMultiplexer {

  /** The number of messages taken from a connection before the next one is served. */
  static final int TURN = 4;

  /** A list node of a connection. */
  static final class Place {

    private final ReceiveMultiplexer list;
    private volatile @Nullable Channel
        channel; // null after its close: the node may stay in the list
    private final AtomicBoolean listed = new AtomicBoolean();
    private @Nullable Place next; // guarded by the list that the node is in

    Place(ReceiveMultiplexer list, Channel channel) {
      this.list = list;
      this.channel = channel;
    }

    /** Adds the connection to the list, as it may have messages or freed space. By any thread. */
    void offer() {
      list.offer(this);
    }

    boolean isEnded() {
      return list.ended;
    }

    /** Clears the reference to a closed connection. */
    void clear() {
      channel = null;
    }
  }

  private final Runnable wake;
  private final AtomicReference<@Nullable Place> offered =
      new AtomicReference<>(); // the last offered is first
  private volatile boolean ended;

  // The list, in the order of service; used by the receiver.
  private @Nullable Place first;
  private @Nullable Place last;
  private long turnEnd; // the messagesTaken() of the first at which the next is served

  /**
   * Creates an empty list.
   *
   * @param wake wakes threads that wait for messages
   */
  public ReceiveMultiplexer(Runnable wake) {
    this.wake = wake;
  }

  private void offer(Place place) {
    if (ended || place.listed.get() || place.listed.getAndSet(true)) {
      return; // not missed: the receiver checks for messages before and after it removes the node
    }
    Place behind;
    do {
      behind = offered.get();
      place.next = behind;
    } while (!offered.compareAndSet(behind, place));
  }

  void wake() {
    wake.run();
  }

  /**
   * Ends the common receiver: from now on, each connection's own receiver takes its messages. By
   * any thread.
   */
  public void end() {
    ended = true;
    offered.set(null);
  }

  /**
   * Returns the connection to serve next. By the receiver.
   *
   * @return a connection with messages, which is not closed; null if there is none
   */
  public @Nullable Channel next() {
    if (first == null) {
      appendOffered();
    }
    while (first != null && !ended) {
      Place place = first;
      Channel channel = place.channel;
      if (channel == null || channel.isClosed()) {
        removeFirst(); // it stays marked as listed, so it is never offered again
      } else if (!channel.messages().hasNext()) {
        removeFirst();
        place.listed.getAndSet(false);
        if (!channel.messages().hasNext()) {
          channel.serveStarvingPeer(); // the peer may be unable to send before that
        } else if (!place.listed.getAndSet(true)) {
          append(place); // a message arrived while the node was still marked as listed
        }
      } else if (channel.messages().messagesTaken() >= turnEnd) {
        removeFirst();
        append(place);
      } else {
        return channel;
      }
    }
    return null;
  }

  /** Removes the first node; then appends the nodes that were offered since. */
  private void removeFirst() {
    Place place = first;
    if (place != null) {
      first = place.next;
      place.next = null;
      if (first == null) {
        last = null;
      } else {
        beginTurn(first);
      }
    }
    appendOffered();
  }

  private void appendOffered() {
    if (offered.get() == null) {
      return;
    }
    Place place = offered.getAndSet(null);
    Place turned = null;
    while (place != null) { // reverses the order: the first offered becomes the first
      Place behind = place.next;
      place.next = turned;
      turned = place;
      place = behind;
    }
    while (turned != null) {
      Place behind = turned.next;
      append(turned);
      turned = behind;
    }
  }

  private void append(Place place) {
    place.next = null;
    if (last == null) {
      first = place;
      beginTurn(place);
    } else {
      last.next = place;
    }
    last = place;
  }

  private void beginTurn(Place place) {
    Channel channel = place.channel;
    turnEnd = channel == null ? 0 : channel.messages().messagesTaken() + TURN;
  }
}
