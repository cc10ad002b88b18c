// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The messages of a connection that were received and wait for the program: a ring that is large
 * enough for all that can come, so that it cannot overflow.
 *
 * <p><b>Threads:</b> whoever polls the receive queue adds, under its lock; one receiver takes.
 */
public final class Inbox {

  /** Who takes the messages. */
  private enum Taker {
    NOBODY,
    RECEIVER,
    COMMON_RECEIVER
  }

  private final long[] messages; // number and length
  private final int mask;
  private final AtomicReference<Taker> taker = new AtomicReference<>(Taker.NOBODY);
  private final AtomicLong tail = new AtomicLong();
  private final AtomicLong taken = new AtomicLong(); // the receiver's: the head, for others
  private final AtomicLong bytesTaken = new AtomicLong(); // the receiver's, before taken
  private long head; // the receiver's
  private long knownTail; // the receiver's

  /**
   * Makes an inbox.
   *
   * @param capacity how many messages it has to hold
   */
  public Inbox(int capacity) {
    int slots = Integer.highestOneBit(2 * Math.max(1, capacity) - 1);
    this.mask = slots - 1;
    this.messages = new long[slots];
  }

  /**
   * Adds a message.
   *
   * @return false if there are more than there can be
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

  /**
   * Tells whether a message is here.
   *
   * @return whether one is
   */
  public boolean hasNext() {
    if (head < knownTail) {
      return true;
    }
    knownTail = tail.getAcquire();
    return head < knownTail;
  }

  /**
   * Returns the number of the next message, which is here.
   *
   * @return the number by which its channel knows it
   */
  public int nextNumber() {
    return (int) (messages[(int) head & mask] >>> Integer.SIZE);
  }

  /**
   * Returns the length of the next message, which is here.
   *
   * @return the length in bytes
   */
  public int nextLength() {
    return (int) messages[(int) head & mask];
  }

  /** Passes on to the message behind. */
  public void advance() {
    bytesTaken.setPlain(bytesTaken.getPlain() + nextLength());
    head++;
    taken.setRelease(head);
  }

  /**
   * Returns whether a message has ever come. By any thread.
   *
   * @return whether one has
   */
  public boolean isUsed() {
    return tail.getAcquire() > 0;
  }

  /**
   * Returns how many messages were taken, by whatever receiver. By any thread.
   *
   * @return the number of messages
   */
  public long messagesTaken() {
    return taken.getAcquire();
  }

  /**
   * Returns how many bytes those messages had. By any thread.
   *
   * @return the number of bytes
   */
  public long bytesTaken() {
    return bytesTaken.getAcquire();
  }

  /**
   * Settles that the connection's own receiver takes the messages.
   *
   * @return false if a common one does
   */
  boolean claim() {
    return taker.compareAndSet(Taker.NOBODY, Taker.RECEIVER) || taker.get() == Taker.RECEIVER;
  }

  /** Whether a common receiver takes the messages. */
  boolean isGivenUp() {
    return taker.get() == Taker.COMMON_RECEIVER;
  }

  /** Settles that a common receiver takes the messages; false if the connection's own one does. */
  boolean giveUp() {
    return taker.compareAndSet(Taker.NOBODY, Taker.COMMON_RECEIVER);
  }

  /** Has the connection's own receiver take them from now on; the common one has ended. */
  boolean claimBack() {
    return taker.compareAndSet(Taker.COMMON_RECEIVER, Taker.RECEIVER);
  }
}
