// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import dev.ferrule.verbs.CompletionQueue;
import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A queue of receive completions, of one connection or of many: polled up to 32 at a time, and
 * sorted by queue pair number into the inboxes of the connections, or into one for all.
 *
 * <p><b>Threads:</b> any thread may call anything; only one at a time polls.
 */
public final class ReceiveQueue implements ReceiveSource, AutoCloseable {

  /** Rounds of polling that empty any queue, though others may go on filling it. */
  private static final int MAX_DRAIN = 65_536 / CompletionQueue.BATCH;

  private final CompletionQueue completions;
  private final IntConsumer strayBuffers;
  private final SpinLock lock = new SpinLock();
  private final Map<Integer, Channel> channels = new ConcurrentHashMap<>();
  private volatile @Nullable Channel only; // the one of one connection, which needs no looking for
  private @Nullable Inbox common; // under the lock
  private volatile Runnable commonWake = () -> {};
  private @Nullable Channel touched; // under the lock: those whose completions were just taken
  private boolean closed; // under the lock

  /**
   * Takes over a queue.
   *
   * @param completions where receives complete
   * @param strayBuffers given the buffer of a message for a connection that is closed
   */
  public ReceiveQueue(CompletionQueue completions, IntConsumer strayBuffers) {
    this.completions = completions;
    this.strayBuffers = strayBuffers;
  }

  /**
   * Makes the queue know a connection.
   *
   * @param channel the connection
   */
  public void add(Channel channel) {
    lock.lock();
    try {
      channels.put(channel.queuePairNumber(), channel);
      only = channels.size() == 1 ? channel : null;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Forgets a connection, whose queue pair is destroyed.
   *
   * @param channel the connection
   */
  public void remove(Channel channel) {
    drain(); // what is left of it, before a new connection gets its number
    lock.lock();
    try {
      channels.remove(channel.queuePairNumber(), channel);
      only = null; // the next one may not be the one whose completions come
    } finally {
      lock.unlock();
    }
  }

  /**
   * Puts all messages into one inbox from now on, those that wait included.
   *
   * @param inbox the inbox
   * @param wake wakes up whoever waits for it
   */
  public void collect(Inbox inbox, Runnable wake) {
    lock.lock();
    try {
      common = inbox;
      commonWake = wake;
      channels.values().forEach(channel -> channel.inbox().moveTo(inbox));
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean poll() {
    if (!lock.tryLock()) {
      return false; // somebody else is at it
    }
    return pollLocked();
  }

  @Override
  public void drain() {
    int rounds = 0;
    do {
      lock.lock();
      rounds++;
    } while (pollLocked() && rounds < MAX_DRAIN);
  }

  private boolean pollLocked() {
    int count;
    Channel next;
    try {
      count = closed ? 0 : completions.poll(CompletionQueue.BATCH);
      for (int i = 0; i < count; i++) {
        take(i);
      }
      next = touched;
      touched = null;
    } finally {
      lock.unlock();
    }
    if (count <= 0) {
      return false;
    }
    VarHandle.fullFence(); // who sleeps has either seen what was taken, or is seen asleep
    while (next != null) {
      Channel channel = next;
      next = channel.untouch();
      channel.afterPoll();
    }
    commonWake.run();
    return true;
  }

  private void take(int index) {
    Channel known = only;
    Channel channel = known != null ? known : channels.get(completions.queuePairNumber(index));
    if (channel == null) {
      strayBuffers.accept((int) completions.workRequestId(index));
      return;
    }
    if (channel.take(completions, index)) {
      Inbox inbox = common;
      (inbox == null ? channel.inbox() : inbox)
          .add(channel, (int) completions.workRequestId(index), completions.length(index));
    }
    if (channel.touch(touched)) { // not before: see there
      touched = channel;
    }
  }

  @Override
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

  /** Wakes up whoever waits for something on this queue. */
  public void wakeAll() {
    channels.values().forEach(channel -> channel.link().onProgress());
    commonWake.run();
  }

  /** Polls no more, so that the completion queue can be destroyed. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
    } finally {
      lock.unlock();
    }
  }
}
