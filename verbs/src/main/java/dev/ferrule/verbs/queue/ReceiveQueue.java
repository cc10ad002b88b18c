// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import dev.ferrule.verbs.CompletionQueue;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A queue of receive completions, of one connection or of many: polled up to 32 at a time, and
 * sorted by queue pair number into the inboxes of the connections.
 *
 * <p><b>Threads:</b> any thread may call anything; only one at a time polls.
 */
public final class ReceiveQueue implements ReceiveSource, AutoCloseable {

  private static final System.Logger LOGGER = System.getLogger(ReceiveQueue.class.getName());

  /** Rounds of polling that empty any queue, though others may go on filling it. */
  private static final int MAX_DRAIN = 65_536 / CompletionQueue.BATCH;

  private final CompletionQueue completions;
  private final IntConsumer strays;
  private final boolean single;
  private final SpinLock lock = new SpinLock();
  private final EventRequest event;
  private final NumberTable<Channel> byNumber = new NumberTable<>(); // under the lock
  private volatile Channel[] channels = {}; // the same, for others; changed under the lock
  private volatile @Nullable Channel only; // the one of one connection, which needs no looking for
  private volatile @Nullable CommonArrivals common; // written under the lock
  private final AtomicInteger sleepers = new AtomicInteger(); // that have asked for an event
  private @Nullable Channel touched; // under the lock: those whose completions were just taken
  private boolean closed; // under the lock

  /**
   * Takes over a queue for any number of connections.
   *
   * @param completions where receives complete
   * @param strays given the id of a receive of a connection that is closed
   */
  public ReceiveQueue(CompletionQueue completions, IntConsumer strays) {
    this(completions, strays, false);
  }

  private ReceiveQueue(CompletionQueue completions, IntConsumer strays, boolean single) {
    this.completions = completions;
    this.event = new EventRequest(completions, lock);
    this.strays = strays;
    this.single = single;
  }

  /**
   * Takes over a queue of one connection, whose completions need no looking at whose they are.
   *
   * @param completions where receives complete
   * @param strays given the id of a receive when the connection is closed
   * @return the queue
   */
  public static ReceiveQueue ofOne(CompletionQueue completions, IntConsumer strays) {
    return new ReceiveQueue(completions, strays, true);
  }

  /**
   * Makes the queue know a connection. If the queue is not of that connection alone, its queue pair
   * receives nothing yet; if it is, what has come is the connection's.
   *
   * @param channel the connection
   */
  public void add(Channel channel) {
    Channel next;
    lock.lock();
    try {
      if (!single) {
        takeLeftovers();
      }
      next = takeTouched();
      byNumber.put(channel.queuePairNumber(), channel);
      channels = with(channels, channel);
      collect(channel);
      only = single ? channel : null;
    } finally {
      lock.unlock();
    }
    act(next);
  }

  /** Takes what is left of a connection that is closed, and had the number of the next one. */
  private void takeLeftovers() {
    int rounds = 0;
    while (rounds < MAX_DRAIN && takeBatch() > 0) {
      rounds++;
    }
  }

  /**
   * Forgets a connection, whose queue pair is in error, but not destroyed: another one could have
   * its number then, and the device may drop its completions.
   *
   * @param channel the connection
   */
  public void remove(Channel channel) {
    drain();
    lock.lock();
    try {
      if (byNumber.get(channel.queuePairNumber()) == channel) {
        byNumber.remove(channel.queuePairNumber());
      }
      channels = without(channels, channel);
      only = null;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Has one receiver take all messages from now on, those that wait included; but not those of
   * connections whose own receiver has begun to take them.
   *
   * @param arrivals the receiver's
   */
  public void collect(CommonArrivals arrivals) {
    lock.lock();
    try {
      common = arrivals;
      for (Channel channel : channels) {
        collect(channel);
      }
    } finally {
      lock.unlock();
    }
  }

  private void collect(Channel channel) {
    CommonArrivals known = common;
    if (known != null) {
      channel.deliverTo(known);
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
      count = takeBatch();
      next = takeTouched();
    } finally {
      lock.unlock();
    }
    if (count <= 0) {
      return false;
    }
    act(next);
    return true;
  }

  /** Takes completions; returns how many there were. Under the lock. */
  private int takeBatch() {
    int count = closed ? 0 : completions.poll(CompletionQueue.BATCH);
    for (int i = 0; i < count; i++) {
      take(i);
    }
    return count;
  }

  /** Those whose completions were taken. Under the lock. */
  private @Nullable Channel takeTouched() {
    Channel first = touched;
    touched = null;
    return first;
  }

  /** Acts on what was taken; not under the lock. */
  private void act(@Nullable Channel first) {
    VarHandle.fullFence(); // who sleeps has either seen what was taken, or is seen asleep
    Channel next = first;
    while (next != null) {
      Channel channel = next;
      next = channel.untouch();
      lookAfter(channel);
    }
    wakeCommon();
  }

  /**
   * The others that were touched depend on this as well, and whoever polls may be of yet another
   * connection; so nothing that one of them does may end it.
   */
  private static void lookAfter(Channel channel) {
    try {
      channel.afterPoll();
    } catch (RuntimeException | Error e) {
      LOGGER.log(System.Logger.Level.WARNING, "after a poll", e);
    }
  }

  private void take(int index) {
    Channel known = only;
    Channel channel = known != null ? known : byNumber.get(completions.queuePairNumber(index));
    if (channel == null) {
      strays.accept((int) completions.workRequestId(index));
      return;
    }
    channel.take(completions, index);
    if (channel != touched && channel.touch(touched)) { // not before: see there
      touched = channel;
    }
  }

  /**
   * What is in a queue of many connections by now causes no event, and may lie behind a batch that
   * another thread is taking out; that thread wakes only those of its batch. So the queue is
   * emptied here, even if another thread is polling.
   */
  @Override
  public void arm() {
    sleepers.incrementAndGet();
    event.make();
    if (!single) {
      drain();
    }
  }

  @Override
  public void disarm() {
    sleepers.decrementAndGet();
  }

  /**
   * Acts on an event that was requested. A queue of one connection wakes its threads, which take in
   * what has come.
   *
   * <p>A queue of many connections takes it in here, and so wakes the receivers of those that
   * something came for. To wake all of them would cost as many wake-ups for each message as there
   * are connections. The event has used up the request of all that sleep, so those that go on
   * sleeping need another one. What comes before it is made causes no event, and is looked for
   * after it.
   */
  public void onEvent() {
    event.used();
    if (single) {
      wakeOnly();
      return;
    }
    drain();
    if (sleepers.get() > 0) {
      event.make();
      drain();
    }
  }

  private void wakeOnly() {
    Channel known = only;
    if (known != null) {
      known.link().onProgress();
    }
  }

  private void wakeCommon() {
    CommonArrivals known = common;
    if (known != null) {
      known.wake();
    }
  }

  /**
   * Has what was freed posted, to each peer that can send nothing without. By the thread that takes
   * the messages of all.
   */
  public void freeForStarvingPeers() {
    for (Channel channel : channels) {
      if (channel.inbox().isGivenUp()) {
        channel.freeForStarvingPeer();
      }
    }
  }

  /** Polls no more, so that the completion queue can be destroyed. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      event.stop();
    } finally {
      lock.unlock();
    }
  }

  private static Channel[] with(Channel[] channels, Channel one) {
    Channel[] result = Arrays.copyOf(channels, channels.length + 1);
    result[channels.length] = one;
    return result;
  }

  private static Channel[] without(Channel[] channels, Channel one) {
    return Arrays.stream(channels).filter(channel -> channel != one).toArray(Channel[]::new);
  }
}
