// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.verbs.CompletionQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A completion queue of receives, for one connection or many. It is polled in batches; each
 * completion is passed to its connection by queue pair number.
 *
 * <p><b>Threads:</b> safe for use by several threads; one thread at a time polls.
 */
public final class ReceiveQueue implements ReceiveSource, AutoCloseable {

  private static final System.Logger LOGGER = System.getLogger(ReceiveQueue.class.getName());

  /** The maximum number of completions taken to empty a queue, even if peers keep filling it. */
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
  private volatile @Nullable Channel only; // in a queue of one connection, which needs no lookup
  private volatile @Nullable ReceiveMultiplexer common; // written under the lock
  private final AtomicInteger sleepers = new AtomicInteger(); // threads that requested an event
  private @Nullable Channel completed; // a list of those with new completions; under the lock
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
   * Creates a queue of one connection. Its completions need no lookup of their connection.
   *
   * @param completions the completion queue of receives
   * @param batch how many completions are polled together, up to {@link CompletionQueue#BATCH}
   * @return the queue
   */
  public static ReceiveQueue ofOne(CompletionQueue completions, int batch) {
    return new ReceiveQueue(completions, receive -> {}, batch, true);
  }

  /**
   * Adds a connection. In a queue of many connections, the connection's queue pair must not have
   * received anything yet. In a queue of one connection, completions that are in the queue belong
   * to it.
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
      next = takeCompleted();
      byNumber.put(channel.queuePairNumber(), channel);
      channels.add(channel);
      collect(channel);
      only = single ? channel : null;
    } finally {
      lock.unlock();
    }
    act(next);
  }

  /**
   * Takes the completions of closed connections, because the new connection may reuse a queue pair
   * number.
   */
  private void takeLeftovers() {
    int rounds = 0;
    while (rounds < maxDrain && takeBatch() > 0) {
      rounds++;
    }
  }

  /**
   * Removes a connection. Its queue pair must be in the error state and not destroyed yet: after
   * that, its number could be reused, and the device may drop its completions.
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
   * Passes all messages to one receiver from now on, including waiting ones. Messages that a
   * connection's own receiver has claimed are excepted.
   *
   * @param multiplexer the rotation of that receiver
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
      next = takeCompleted();
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
  private @Nullable Channel takeCompleted() {
    if (single) {
      return only;
    }
    Channel first = completed;
    completed = null;
    return first;
  }

  /**
   * Handles the completions that were taken, and wakes sleeping threads; not under the lock.
   *
   * <p>No wake-up is missed, without a barrier here. A thread that falls asleep first announces it,
   * then {@linkplain #arm requests an event} under the lock, then looks for messages. If it
   * acquires the lock after this thread has released it, it sees the messages. If it acquires the
   * lock before, this thread sees that it sleeps.
   */
  private void act(@Nullable Channel first) {
    Channel next = first;
    while (next != null) {
      Channel channel = next;
      next = single ? null : channel.unlinkCompleted();
      handle(channel);
    }
    wakeCommon();
  }

  /**
   * Handles one channel, and catches all exceptions: the other channels of the batch must be
   * handled as well, and the polling thread may belong to another connection.
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
        && channel != completed
        && channel.linkCompleted(completed)) { // after the completion is taken: see linkCompleted
      completed = channel;
    }
  }

  /**
   * Completions that are already in the queue cause no event. In a queue of many connections, they
   * may be behind a batch that another thread is taking, and that thread wakes only the connections
   * of its batch. So this method drains the queue, even if another thread is polling.
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
   * with completions. Waking all receivers would cost as many wake-ups per message as there are
   * connections. The event has used up the request of all sleeping threads, so those that continue
   * to sleep need another request. Completions before that request cause no event, so the queue is
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

  /**
   * Requests an event. If the request fails, all connections fail, because nothing would wake their
   * threads.
   */
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
