// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.verbs.CompletionQueue;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A queue of receive completions, of one connection or of many: polled up to 32 at a time, and
 * sorted into messages, which wait here for the receiver, and what concerns the connections.
 *
 * <p><b>Threads:</b> any thread may {@link #poll}, as a sender does that waits for credit; only the
 * receiver's takes messages.
 */
public final class ReceiveQueue {

  private final CompletionQueue completions;
  private final SpinLock lock = new SpinLock();
  private final Map<Integer, Channel> channels = new ConcurrentHashMap<>();
  private @Nullable Channel only; // the one of one connection, which needs no looking for

  // A ring of messages; as large as there are buffers, so that it cannot overflow.
  private final Channel[] readyChannels;
  private final long[] readyMessages; // buffer and length
  private final int mask;
  private volatile long tail; // written by whoever polls
  private long head; // the receiver's
  private long knownTail; // the receiver's

  private boolean closed; // under the lock

  /**
   * Takes over a queue.
   *
   * @param completions where receives complete
   * @param buffers how many buffers there are, at most
   */
  public ReceiveQueue(CompletionQueue completions, int buffers) {
    this.completions = completions;
    int slots = Integer.highestOneBit(2 * Math.max(1, buffers) - 1);
    this.mask = slots - 1;
    this.readyChannels = new Channel[slots];
    this.readyMessages = new long[slots];
  }

  /**
   * Makes the queue know a connection.
   *
   * @param channel the connection
   */
  public void add(Channel channel) {
    channels.put(channel.queuePairNumber(), channel);
    only = channels.size() == 1 ? channel : null;
  }

  /**
   * Looks for completions.
   *
   * @return whether there were any
   */
  public boolean poll() {
    if (!lock.tryLock()) {
      return false; // somebody else is at it
    }
    return pollLocked();
  }

  /** Looks for completions until there are none, even if somebody else is at it. */
  public void drain() {
    do {
      lock.lock();
    } while (pollLocked());
  }

  private boolean pollLocked() {
    int count;
    try {
      count = closed ? 0 : completions.poll(CompletionQueue.BATCH);
      for (int i = 0; i < count; i++) {
        take(i);
      }
    } finally {
      lock.unlock();
    }
    if (count > 0) {
      Channel channel = only;
      if (channel != null) {
        channel.afterPoll();
      } else {
        channels.values().forEach(Channel::afterPoll);
      }
    }
    return count > 0;
  }

  private void take(int index) {
    Channel known = only;
    Channel channel = known != null ? known : channels.get(completions.queuePairNumber(index));
    if (channel != null && channel.take(completions, index)) {
      long now = tail;
      int slot = (int) now & mask;
      readyChannels[slot] = channel;
      readyMessages[slot] =
          completions.workRequestId(index) << Integer.SIZE | completions.length(index);
      tail = now + 1;
    }
  }

  /**
   * Tells whether a message is there, looking for completions if none is.
   *
   * @return whether one is
   */
  public boolean hasNext() {
    if (head < knownTail) {
      return true;
    }
    knownTail = tail;
    if (head == knownTail) {
      poll();
      knownTail = tail;
    }
    return head < knownTail;
  }

  /**
   * Returns the connection of the next message, which is there.
   *
   * @return the connection
   */
  public Channel nextChannel() {
    return readyChannels[(int) head & mask];
  }

  /**
   * Returns the buffer of the next message, which is there.
   *
   * @return the buffer's number
   */
  public int nextBuffer() {
    return (int) (readyMessages[(int) head & mask] >>> Integer.SIZE);
  }

  /**
   * Returns the length of the next message, which is there.
   *
   * @return the length in bytes
   */
  public int nextLength() {
    return (int) readyMessages[(int) head & mask];
  }

  /** Passes on to the message behind. */
  public void advance() {
    head++;
  }

  /** Asks for an event when the next completion comes. */
  public void arm() {
    lock.lock();
    try {
      if (!closed) {
        completions.requestNotification();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Polls no more, so that the completion queue can be destroyed. */
  public void close() {
    lock.lock();
    try {
      closed = true;
    } finally {
      lock.unlock();
    }
  }
}
