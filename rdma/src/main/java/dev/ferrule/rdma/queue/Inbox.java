// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The received messages of a connection that wait for the program: a ring with a slot for every
 * message that can arrive, so that it cannot overflow.
 *
 * <p><b>Threads:</b> the thread that polls the receive queue adds, under its lock; one receiver
 * takes.
 */
public final class Inbox {

  /** The receiver that has claimed the messages. */
  private enum ClaimedBy {
    NONE,
    RECEIVER,
    COMMON_RECEIVER
  }

  private final long[] messages; // number and length
  private final int mask;
  private final AtomicReference<ClaimedBy> claimedBy = new AtomicReference<>(ClaimedBy.NONE);
  private final AtomicLong tail = new AtomicLong();
  private final AtomicLong taken = new AtomicLong(); // by the receiver: the head, for other threads
  private final AtomicLong bytesTaken = new AtomicLong(); // by the receiver, before taken
  private long head; // only by the receiver
  private long knownTail; // only by the receiver

  /**
   * Creates an inbox.
   *
   * @param capacity the minimum number of messages
   */
  public Inbox(int capacity) {
    int slots = Integer.highestOneBit(2 * Math.max(1, capacity) - 1);
    this.mask = slots - 1;
    this.messages = new long[slots];
  }

  /**
   * Adds a message.
   *
   * @return false if the inbox is full
   */
  boolean add(int message, int length) {
    long now = tail.getPlain();
    if (now - taken.getAcquire() > mask) {
      return false;
    }
    messages[(int) now & mask] = (long) message << Integer.SIZE | length;
    tail.setRelease(now + 1);
    return true;
  }

  /** {@return whether a message has arrived} */
  public boolean hasNext() {
    if (head < knownTail) {
      return true;
    }
    knownTail = tail.getAcquire();
    return head < knownTail;
  }

  /** {@return the number of the next message in its channel} Requires {@link #hasNext}. */
  public int nextNumber() {
    return (int) (messages[(int) head & mask] >>> Integer.SIZE);
  }

  /** {@return the length of the next message, in bytes} Requires {@link #hasNext}. */
  public int nextLength() {
    return (int) messages[(int) head & mask];
  }

  /** Advances to the message after it. */
  public void advance() {
    bytesTaken.setPlain(bytesTaken.getPlain() + nextLength());
    head++;
    taken.setRelease(head);
  }

  /** {@return whether a message has ever arrived} By any thread. */
  public boolean isUsed() {
    return tail.getAcquire() > 0;
  }

  /** {@return the number of messages taken, by any receiver} By any thread. */
  public long messagesTaken() {
    return taken.getAcquire();
  }

  /** {@return the number of bytes of the messages taken} By any thread. */
  public long bytesTaken() {
    return bytesTaken.getAcquire();
  }

  /**
   * Claims the messages for the connection's own receiver.
   *
   * @return false if a common receiver has claimed them
   */
  boolean claim() {
    return claimedBy.compareAndSet(ClaimedBy.NONE, ClaimedBy.RECEIVER)
        || claimedBy.get() == ClaimedBy.RECEIVER;
  }

  /** Returns whether a common receiver has claimed the messages. */
  boolean isGivenUp() {
    return claimedBy.get() == ClaimedBy.COMMON_RECEIVER;
  }

  /**
   * Claims the messages for a common receiver; returns false if the connection's own receiver has
   * claimed them.
   */
  boolean giveUp() {
    return claimedBy.compareAndSet(ClaimedBy.NONE, ClaimedBy.COMMON_RECEIVER);
  }

  /** Claims the messages for the connection's own receiver after the common one has ended. */
  boolean claimBack() {
    return claimedBy.compareAndSet(ClaimedBy.COMMON_RECEIVER, ClaimedBy.RECEIVER);
  }
}
