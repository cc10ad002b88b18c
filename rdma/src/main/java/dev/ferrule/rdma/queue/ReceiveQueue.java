// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.verbs.CompletionQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A queue of receive completions of one connection or of many. It is polled in batches, which are
 * distributed to the connections by queue pair number.
 *
 * <p><b>Threads:</b> safe for use by several threads; one thread at a time polls.
 */
public final class ReceiveQueue implements ReceiveSource, AutoCloseable {

  private static final System.Logger LOGGER = System.getLogger(ReceiveQueue.class.getName());

  /** The number of completions that empty any queue, even if peers keep filling it. */
  private static final int MAX_DRAIN = 65_536;

  private final CompletionQueue completions;
  private final IntConsumer strays;
  private final boolean single;
  private final int batch;
  private final int maxDrain; // in polls
  private final SpinLock lock = new SpinLock();
  private final EventRequest event;
  private final NumberTable<Channel> byNumber = new NumberTable<>(); // under the lock
  private final List<Channel> channels = new ArrayList<>(); // the same; under the lock
  private volatile @Nullable Channel only; // of a queue of one connection, which needs no lookup
  private volatile @Nullable ReceiveMultiplexer common; // written under the lock
  private final AtomicInteger sleepers = new AtomicInteger(); // threads that requested an event
  private @Nullable Channel touched; // those of many with new completions; under the lock
  private boolean closed; // under the lock

  /**
   * Creates a queue for any number of connections.
   *
   * @param completions the completion queue of receives
   * @param strays called with the id of a completed receive of a closed connection
   * @param batch how many completions are polled together, up to {@link CompletionQueue#BATCH}
   */
  public ReceiveQueue(CompletionQueue completions, IntConsumer strays, int batch) {
    this(completions, strays, batch, false);
  }

  private ReceiveQueue(CompletionQueue completions, IntConsumer strays, int batch, boolean single) {
    this.completions = completions;
    this.batch = batch;
    this.maxDrain = MAX_DRAIN / batch;
    this.event = new EventRequest(completions, lock);
    this.strays = strays;
    this.single = single;
  }

  /**
   * Creates a queue of one connection, whose completions need no lookup of their connection.
   *
   * @param completions the completion queue of receives
   * @param batch how many completions are polled together, up to {@link CompletionQueue#BATCH}
   * @return the queue
   */
  public static ReceiveQueue ofOne(CompletionQueue completions, int batch) {
    return new ReceiveQueue(completions, receive -> {}, batch, true);
  }

  /**
   * Adds a connection. In a queue of many connections, the connection's queue pair must not receive
   * yet; in a queue of one connection, completions in the queue belong to it.
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
      channels.add(channel);
      collect(channel);
      only = single ? channel : null;
    } finally {
      lock.unlock();
    }
    act(next);
  }

  /** Takes the completions of a closed connection whose queue pair number the new one may reuse. */
  private void takeLeftovers() {
    int rounds = 0;
    while (rounds < maxDrain && takeBatch() > 0) {
      rounds++;
    }
  }

  /**
   * Removes a connection. Its queue pair is in the error state but must not be destroyed yet: its
   * number could be reused then, and the device may drop its completions.
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
      channels.remove(channel);
      only = null;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Makes one receiver take all messages from now on, including those that wait, except messages of
   * connections whose own receiver has claimed them.
   *
   * @param multiplexer takes the messages of all connections for the receiver
   */
  public void collect(ReceiveMultiplexer multiplexer) {
    lock.lock();
    try {
      common = multiplexer;
      for (Channel channel : channels) {
        collect(channel);
      }
    } finally {
      lock.unlock();
    }
  }

  private void collect(Channel channel) {
    ReceiveMultiplexer known = common;
    if (known != null) {
      channel.deliverTo(known);
    }
  }

  @Override
  public boolean poll() {
    if (!lock.tryLock()) {
      return false; // another thread is polling
    }
    return pollLocked();
  }

  @Override
  public void drain() {
    int rounds = 0;
    do {
      lock.lock();
      rounds++;
    } while (pollLocked() && rounds < maxDrain);
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

  /** Takes completions; returns their number. Under the lock. */
  private int takeBatch() {
    int count = closed ? 0 : completions.poll(batch);
    for (int i = 0; i < count; i++) {
      take(i);
    }
    return count;
  }

  /** Returns the list of channels whose completions were taken. Under the lock. */
  private @Nullable Channel takeTouched() {
    if (single) {
      return only;
    }
    Channel first = touched;
    touched = null;
    return first;
  }

  /**
   * Handles the completions that were taken, and wakes sleeping threads; not under the lock.
   *
   * <p>No wake-up is missed, without a barrier here: a thread that falls asleep says so,
   * {@linkplain #arm requests an event} under the lock, and then looks for messages. If that is
   * after the lock was held here, it sees them; if it is before, this thread sees it asleep.
   */
  private void act(@Nullable Channel first) {
    Channel next = first;
    while (next != null) {
      Channel channel = next;
      next = single ? null : channel.untouch();
      handle(channel);
    }
    wakeCommon();
  }

  /**
   * Handles one channel, and catches all exceptions: the other channels of the batch have to be
   * handled too, and the polling thread may belong to another connection.
   */
  private static void handle(Channel channel) {
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
    if (!single
        && channel != touched
        && channel.touch(touched)) { // after the completion is taken: see touch
      touched = channel;
    }
  }

  /**
   * In a queue of many connections, completions that are already in the queue cause no event. They
   * may be behind a batch that another thread is taking, which wakes only the connections of its
   * batch. So the queue is drained here, even if another thread is polling.
   */
  @Override
  public void arm() {
    sleepers.incrementAndGet();
    requestEvent();
    if (!single) {
      drain();
    }
  }

  @Override
  public void disarm() {
    sleepers.decrementAndGet();
  }

  /**
   * Handles a requested event. A queue of one connection wakes its threads, which poll.
   *
   * <p>A queue of many connections is drained here, which wakes only the receivers of connections
   * with completions. Waking all of them would cost as many wake-ups per message as there are
   * connections. The event has used up the request of all sleeping threads, so those that continue
   * to sleep need another one. Completions before that request cause no event, so the queue is
   * drained again after it.
   */
  public void onEvent() {
    event.used();
    if (single) {
      wakeOnly();
      return;
    }
    drain();
    if (sleepers.get() > 0) {
      requestEvent();
      drain();
    }
  }

  /** Requests an event. If that fails, all connections fail: nothing would wake their threads. */
  private void requestEvent() {
    int errno = event.make();
    if (errno != 0) {
      List<Channel> all;
      lock.lock();
      try {
        all = List.copyOf(channels);
      } finally {
        lock.unlock();
      }
      all.forEach(each -> each.callbacks().onCallFailure(EventRequest.FUNCTION, errno));
    }
  }

  private void wakeOnly() {
    Channel known = only;
    if (known != null) {
      known.callbacks().onProgress();
    }
  }

  private void wakeCommon() {
    ReceiveMultiplexer known = common;
    if (known != null) {
      known.wake();
    }
  }

  /** Stops polling, so that the completion queue can be destroyed. */
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
}
