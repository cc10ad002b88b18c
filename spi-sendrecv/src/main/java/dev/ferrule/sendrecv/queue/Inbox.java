// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Messages that were received and wait for the program: a ring that is as large as there are
 * buffers, so that it cannot overflow.
 *
 * <p><b>Threads:</b> whoever polls the receive queue adds, under its lock; one receiver takes.
 */
public final class Inbox {

  private final @Nullable Channel[] channels;
  private final long[] messages; // buffer and length
  private final int mask;
  private final AtomicLong tail = new AtomicLong();
  private final AtomicLong taken = new AtomicLong(); // the receiver's: the head, for others
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
    this.channels = new Channel[slots];
    this.messages = new long[slots];
  }

  void add(Channel channel, int buffer, int length) {
    long now = tail.getPlain();
    if (now - taken.getAcquire() > mask) {
      throw new IllegalStateException("more messages came than there are buffers");
    }
    int slot = (int) now & mask;
    channels[slot] = channel;
    messages[slot] = (long) buffer << Integer.SIZE | length;
    tail.setRelease(now + 1);
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
   * Returns the connection of the next message, which is here.
   *
   * @return the connection
   */
  public Channel nextChannel() {
    Channel channel = channels[(int) head & mask];
    if (channel == null) {
      throw new IllegalStateException("there is no message");
    }
    return channel;
  }

  /**
   * Returns the buffer of the next message, which is here.
   *
   * @return the buffer's number
   */
  public int nextBuffer() {
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
    channels[(int) head & mask] = null; // or a closed connection would be kept in memory
    head++;
    taken.setRelease(head);
  }

  /** Moves all messages to another inbox; nobody takes from this one any more. */
  void moveTo(Inbox other) {
    while (hasNext()) {
      other.add(nextChannel(), nextBuffer(), nextLength());
      advance();
    }
  }
}
