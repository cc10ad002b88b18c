// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The received messages of many connections, of any device, for one receiver. Messages stay in the
 * inboxes of their connections, which cannot overflow; this class has a list of the connections
 * with messages. A connection is in the list at most once. The receiver takes a few messages of
 * each in rotation, so no connection starves others. Nothing allocates here.
 *
 * <p><b>Threads:</b> any number of threads that poll receive queues offer; one receiver takes; any
 * thread may end it.
 */
public final class ReceiveMultiplexer implements IncomingMessages {

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

    /** Adds the connection to the list, as it may have messages. By any thread. */
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
  private final SpinLock lock = new SpinLock(); // between the receiver and end
  private volatile boolean ended; // written under the lock

  // The list, in the order of the turns; under the lock.
  private @Nullable Place first;
  private @Nullable Place last;
  private int left = TURN; // in the turn of the first one

  // The next message, already taken out of its inbox; only by the receiver.
  private @Nullable Channel channel;
  private int number;
  private int length;

  /**
   * Creates an empty list.
   *
   * @param wake wakes threads that wait for messages
   */
  public ReceiveMultiplexer(Runnable wake) {
    this.wake = wake;
  }

  private void offer(Place place) {
    if (ended || place.listed.getAndSet(true)) {
      return; // the receiver checks the inbox before and after it removes the node
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
    lock.lock();
    try {
      ended = true;
      first = null;
      last = null;
      offered.set(null);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean claim() {
    return true; // inboxes keep the claims
  }

  @Override
  public boolean hasNext() {
    while (channel != null || take()) {
      if (!channel().isClosed()) {
        return true;
      }
      channel = null;
    }
    return false;
  }

  /** Takes a message out of an inbox; under the lock, so that no other receiver has taken over. */
  private boolean take() {
    lock.lock();
    try {
      if (first == null) {
        appendOffered();
      }
      while (first != null && !ended) {
        if (takeFrom(first)) {
          return true;
        }
      }
      return false;
    } finally {
      lock.unlock();
    }
  }

  private boolean takeFrom(Place place) {
    Channel owner = place.channel;
    if (owner == null || owner.isClosed()) {
      endTurn(); // never offered again, as it stays marked as listed
      return false;
    }
    Inbox inbox = owner.inbox();
    if (!inbox.hasNext()) {
      endTurn();
      place.listed.getAndSet(false);
      if (inbox.hasNext() && !place.listed.getAndSet(true)) {
        append(place); // a message arrived when the node was still marked as listed
      }
      return false;
    }
    channel = owner;
    number = inbox.nextNumber();
    length = inbox.nextLength();
    inbox.advance();
    left--;
    if (left == 0) {
      endTurn();
      append(place);
    }
    return true;
  }

  /** Ends the turn of the first node and removes it; appends the nodes offered meanwhile. */
  private void endTurn() {
    Place place = first;
    if (place != null) {
      first = place.next;
      place.next = null;
      if (first == null) {
        last = null;
      }
    }
    left = TURN;
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
    } else {
      last.next = place;
    }
    last = place;
  }

  @Override
  public Channel channel() {
    Channel known = channel;
    if (known == null) {
      throw new IllegalStateException("there is no message");
    }
    return known;
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public int length() {
    return length;
  }

  @Override
  public void advance() {
    channel = null;
  }
}
