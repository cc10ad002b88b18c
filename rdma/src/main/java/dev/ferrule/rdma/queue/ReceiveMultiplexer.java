// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The rotation of a common receiver over connections, of any device. Messages stay in the queues of
 * their connections, which cannot overflow; this class has a list of the connections with messages.
 * A connection is in the list at most once. The receiver takes a few messages of each in rotation,
 * so no connection starves others. A connection without messages leaves the list, and freed buffer
 * space is made available to its peer then; it returns when messages arrive or are freed. Nothing
 * allocates here.
 *
 * <p><b>Threads:</b> any number of threads that poll receive queues offer; one receiver takes; any
 * thread may end it.
 */
public final class ReceiveMultiplexer {

  /** The number of messages taken from a connection before the next one has its turn. */
  static final int TURN = 4;

  /** A list node of a connection. */
  static final class Place {

    private final ReceiveMultiplexer list;
    private volatile @Nullable Channel channel; // null when it is closed: the node may stay
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

    /** Removes the reference to a closed connection. */
    void clear() {
      channel = null;
    }
  }

  private final Runnable wake;
  private final AtomicReference<@Nullable Place> offered = new AtomicReference<>(); // last first
  private volatile boolean ended;

  // The list, in the order of the turns; by the receiver.
  private @Nullable Place first;
  private @Nullable Place last;
  private long turnEnd; // the first one's number of messages taken at the end of its turn

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
      return; // the receiver checks for messages before and after it removes the node
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
   * Ends this receiver: from now on each connection's own receiver takes its messages. By any
   * thread.
   */
  public void end() {
    ended = true;
    offered.set(null);
  }

  /**
   * Returns the connection whose turn it is. By the receiver.
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
        removeFirst(); // never offered again, as it stays marked as listed
      } else if (!channel.messages().hasNext()) {
        removeFirst();
        place.listed.getAndSet(false);
        if (!channel.messages().hasNext()) {
          channel.serveStarvingPeer(); // no message may arrive before that
        } else if (!place.listed.getAndSet(true)) {
          append(place); // a message arrived when the node was still marked as listed
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

  /** Removes the first node; appends the nodes offered meanwhile. */
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
    while (place != null) { // reverses the order, to first offered first
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
