// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The messages of many connections, of whatever device, for one receiver. They stay in the inboxes
 * of their connections, which cannot overflow; here is a list of those connections that have some.
 * Each of them is in the list at most once, and each has its turn of a few messages, so that none
 * keeps the others waiting. Nothing of this allocates.
 *
 * <p><b>Threads:</b> whoever has polled a receive queue offers, any number of threads at a time;
 * one receiver takes; any thread may end it.
 */
public final class CommonArrivals implements Arrivals {

  /** Messages that are taken from a connection before the next one has its turn. */
  static final int TURN = 4;

  /** A connection's place in the list. */
  static final class Place {

    private final CommonArrivals list;
    private volatile @Nullable Channel channel; // null once it is closed: the place may stay
    private final AtomicBoolean listed = new AtomicBoolean();
    private @Nullable Place next; // of whoever has the place

    Place(CommonArrivals list, Channel channel) {
      this.list = list;
      this.channel = channel;
    }

    /** The connection may have messages. By any thread. */
    void offer() {
      list.offer(this);
    }

    void wake() {
      list.wake();
    }

    boolean isEnded() {
      return list.ended;
    }

    /** Lets go of a connection that is closed. */
    void clear() {
      channel = null;
    }
  }

  private final Runnable wake;
  private final AtomicReference<@Nullable Place> offered = new AtomicReference<>(); // last first
  private final SpinLock lock = new SpinLock(); // keeps the receiver and the end apart
  private volatile boolean ended; // written under the lock

  // The list, in the order of the turns; under the lock.
  private @Nullable Place first;
  private @Nullable Place last;
  private int left = TURN; // of the first one's turn

  // The next message, which is out of its inbox; the receiver's.
  private @Nullable Channel channel;
  private int number;
  private int length;

  /**
   * Makes an empty list.
   *
   * @param wake wakes up whoever waits for messages
   */
  public CommonArrivals(Runnable wake) {
    this.wake = wake;
  }

  private void offer(Place place) {
    if (ended || place.listed.getAndSet(true)) {
      return; // the receiver looks into the inbox before it takes the place out, and after that
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

  /** Takes no more messages: from now on each connection's own receiver does. By any thread. */
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
    return true; // which are whose is settled by their inboxes
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

  /**
   * Takes a message out of an inbox; under the lock, so that it is not another receiver's by now.
   */
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
      passOn(); // and it is never offered again, being listed
      return false;
    }
    Inbox inbox = owner.inbox();
    if (!inbox.hasNext()) {
      passOn();
      place.listed.getAndSet(false);
      if (inbox.hasNext() && !place.listed.getAndSet(true)) {
        append(place); // it came in between, when the place could not be offered
      }
      return false;
    }
    channel = owner;
    number = inbox.nextNumber();
    length = inbox.nextLength();
    inbox.advance();
    left--;
    if (left == 0) {
      passOn();
      append(place);
    }
    return true;
  }

  /** Ends the turn of the first one, which leaves the list; those that came meanwhile enter it. */
  private void passOn() {
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
    while (place != null) { // the one that was offered first is to be first
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
