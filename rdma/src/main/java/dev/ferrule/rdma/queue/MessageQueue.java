// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The received messages of a connection that wait for the program: a ring with a slot for every
 * message that can arrive, so it cannot overflow. The owner is the receiver that takes the
 * messages: the connection's own receiver, or a common one. When a common receiver has ended, the
 * connection's own receiver becomes the owner.
 *
 * <p><b>Threads:</b> the thread that polls the receive queue adds, under its lock; the owner takes.
 */
public class MessageQueue {

  /** Returned by {@link #take} if there is no message. */
  public static final long NONE = -1;

  private final long[] messages; // number and length
  private final int mask;
  private final AtomicLong arrived = new AtomicLong();
  private final AtomicLong taken = new AtomicLong();
  private final AtomicLong bytesTaken = new AtomicLong(); // a single owner updates it before taken

  /**
   * The owner: this queue for the connection's own receiver, the node in a common receiver, or null
   * if there is none yet.
   */
  private final AtomicReference<@Nullable Object> owner = new AtomicReference<>();

  /**
   * Creates an empty queue.
   *
   * @param capacity the minimum number of messages
   */
  public MessageQueue(int capacity) {
    int slots = Integer.highestOneBit(2 * Math.max(1, capacity) - 1);
    this.mask = slots - 1;
    this.messages = new long[slots];
  }

  /** {@return the number of slots, a power of two} */
  public final int slots() {
    return mask + 1;
  }

  /**
   * Adds a message.
   *
   * @param message a number that identifies it in its channel
   * @param length its length in bytes
   * @return false if the queue is full
   */
  protected final boolean add(int message, int length) {
    long now = arrived.getPlain();
    if (now - taken.getAcquire() > mask) {
      return false;
    }
    messages[(int) now & mask] = (long) message << Integer.SIZE | length;
    arrived.setRelease(now + 1);
    return true;
  }

  /** {@return whether a message is waiting} */
  public final boolean hasNext() {
    return taken.getAcquire() < arrived.getAcquire();
  }

  /**
   * Takes the next message, which {@link #number} and {@link #length} decode.
   *
   * @return the message; {@link #NONE} if there is none
   */
  public final long take() {
    long now = taken.getAcquire();
    if (now == arrived.getAcquire()) {
      return NONE;
    }
    long message = messages[(int) now & mask];
    if (node() == null) {
      bytesTaken.setPlain(bytesTaken.getPlain() + length(message));
      taken.setRelease(now + 1);
    } else if (taken.compareAndSet(now, now + 1)) {
      bytesTaken.getAndAdd(length(message));
    } else {
      return NONE; // the owner is changing, and the other receiver has taken it
    }
    return message;
  }

  /**
   * Returns the number of a message in its channel.
   *
   * @param message the message, as taken
   * @return its number
   */
  public static int number(long message) {
    return (int) (message >>> Integer.SIZE);
  }

  /**
   * Returns the length of a message.
   *
   * @param message the message, as taken
   * @return its length in bytes
   */
  public static int length(long message) {
    return (int) message;
  }

  /** {@return the number of messages that have arrived} By any thread. */
  public final long messagesArrived() {
    return arrived.getAcquire();
  }

  /** {@return the number of messages taken, by any receiver} By any thread. */
  public final long messagesTaken() {
    return taken.getAcquire();
  }

  /** {@return the number of bytes of the messages taken} By any thread. */
  public final long bytesTaken() {
    return bytesTaken.getAcquire();
  }

  /**
   * Claims the messages for the connection's own receiver.
   *
   * @return false if a common receiver that has not ended has claimed them
   */
  public final boolean claim() {
    if (owner.compareAndSet(null, this)) {
      return true;
    }
    ReceiveMultiplexer.Node node = node();
    return node == null || node.isEnded();
  }

  /**
   * Claims the messages for a common receiver; returns false if another receiver has claimed them.
   */
  final boolean claim(ReceiveMultiplexer.Node node) {
    return owner.compareAndSet(null, node);
  }

  /**
   * Returns the node of the common receiver that has claimed the messages, even if it has ended;
   * null if none has.
   */
  final ReceiveMultiplexer.@Nullable Node node() {
    return owner.get() instanceof ReceiveMultiplexer.Node node ? node : null;
  }
}
