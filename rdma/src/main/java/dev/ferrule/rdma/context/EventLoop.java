// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.context;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.EventPoll;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import dev.ferrule.support.Threads;
import dev.ferrule.verbs.VerbsException;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An event loop: one thread that polls descriptors and runs timers. It dispatches connection,
 * asynchronous and completion events; messages do not pass through it.
 *
 * <p><b>Threads:</b> safe for use by several threads. Actions on the event loop must not block.
 */
final class EventLoop implements AutoCloseable {

  private static final System.Logger LOGGER = System.getLogger(EventLoop.class.getName());

  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long TICK_NANOS = 250 * NANOS_PER_MILLI;

  /** The pause after a failure; LOG_NANOS is the minimum time between two logged failures. */
  private static final long BACK_OFF_NANOS = 10 * NANOS_PER_MILLI;

  private static final long LOG_NANOS = 1_000 * NANOS_PER_MILLI;

  /** A descriptor, and the action to run when it is readable. */
  private record Source(int descriptor, Runnable action) {}

  private final Thread thread;
  private long lastLogged = System.nanoTime() - LOG_NANOS; // only by the event loop
  private long lastTick = System.nanoTime(); // only by the event loop
  private final EventPoll poll;
  private final Map<Long, Source> sources = new ConcurrentHashMap<>(); // by their key in the poll
  private final AtomicLong keys = new AtomicLong();
  private final Set<Runnable> ticks = ConcurrentHashMap.newKeySet();
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private volatile boolean stopped;

  /**
   * Starts a loop.
   *
   * @param name the thread's name
   */
  EventLoop(String name) {
    this(name, openPoll());
  }

  /** Starts a loop with a poll, and takes ownership of it. */
  EventLoop(String name, EventPoll poll) {
    this.poll = poll;
    this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
    thread.start(); // it reads the field
  }

  private static EventPoll openPoll() {
    try {
      return new EventPoll();
    } catch (PosixException e) {
      throw new VerbsException(e.function(), e.subject(), e.errno());
    }
  }

  /**
   * Adds a descriptor, and makes it non-blocking.
   *
   * @return a key to remove it by
   * @throws VerbsException if the system lacks a resource
   */
  long add(int descriptor, Runnable action) {
    int ignored = Posix.fcntl(descriptor, Posix.F_SETFL, Posix.O_NONBLOCK);
    long key = keys.getAndIncrement();
    sources.put(key, new Source(descriptor, action));
    try {
      poll.addReadable(descriptor, key);
    } catch (PosixException e) {
      sources.remove(key);
      throw new VerbsException(e.function(), e.subject(), e.errno());
    }
    return key;
  }

  /** Removes a descriptor, which may already be closed. */
  void remove(long key) {
    Source source = sources.remove(key);
    if (source == null) {
      return;
    }
    try {
      poll.remove(source.descriptor());
    } catch (PosixException e) {
      if (!e.is(Errno.EBADF, Errno.ENOENT)) {
        sources.putIfAbsent(key, source); // the loop reports it again, and logs each failure
        throw e;
      }
    }
  }

  /** Adds an action that runs every 250 milliseconds. */
  void addTick(Runnable tick) {
    ticks.add(tick);
  }

  /** Removes an action added by {@link #addTick}. */
  void removeTick(Runnable tick) {
    ticks.remove(tick);
  }

  /** Returns whether the calling thread is the event loop. */
  boolean isCurrent() {
    return Thread.currentThread() == thread;
  }

  /**
   * Runs a task on the event loop and waits until it has run.
   *
   * @param task the task; must not block
   * @param nanos the maximum time to wait: the event loop may be blocked in a close callback
   */
  void runAndAwait(Runnable task, long nanos) throws InterruptedException {
    if (isCurrent()) {
      task.run();
      return;
    }
    CountDownLatch done = new CountDownLatch(1);
    tasks.add(() -> {
      try {
        task.run();
      } finally {
        done.countDown();
      }
    });
    poll.wake();
    done.await(nanos, TimeUnit.NANOSECONDS);
  }

  private void run() {
    while (!stopped) {
      try {
        turn();
      } catch (Throwable e) { // the heap is full: the actions are guarded
        failed(e);
      }
    }
  }

  /**
   * Waits for events, and runs what is due. An action that fails runs again at the next event or
   * tick.
   */
  private void turn() {
    int count = poll.await(millisUntil(lastTick + TICK_NANOS));
    for (int i = 0; i < count && !stopped; i++) {
      dispatch(i);
    }
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      guard(task);
    }
    if (System.nanoTime() - lastTick >= TICK_NANOS) {
      lastTick = System.nanoTime();
      ticks.forEach(this::guard);
    }
  }

  private void dispatch(int event) {
    long key = poll.key(event);
    Source source = sources.get(key);
    if (source == null) {
      return; // a wake-up, or the descriptor was removed
    }
    if (poll.isReadable(event)) {
      guard(source.action());
    } else {
      guard(
          () -> remove(key)); // the device is gone: the poll would report the descriptor each time
    }
  }

  private static int millisUntil(long time) {
    long nanos = time - System.nanoTime();
    return (int) Math.max(0, (nanos + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI);
  }

  /**
   * Runs an action and catches all exceptions: all connections depend on the event loop, so no
   * action may end it.
   */
  private void guard(Runnable action) {
    try {
      action.run();
    } catch (Throwable e) {
      failed(e);
    }
  }

  /** Logs a failure and pauses, because it may recur immediately: its event is still pending. */
  private void failed(Throwable problem) {
    try {
      long now = System.nanoTime();
      if (now - lastLogged >= LOG_NANOS) {
        lastLogged = now;
        log(problem);
      }
      Threads.pause(BACK_OFF_NANOS);
    } catch (Throwable e) {
      return; // the heap is full: even linking a method at its first call allocates
    }
  }

  private void log(Throwable problem) {
    try {
      LOGGER.log(System.Logger.Level.WARNING, "in " + thread.getName(), problem);
    } catch (Throwable e) {
      // the logger itself may lack memory or a descriptor
    }
  }

  /** Ends the event loop. Must be called by another thread. */
  @Override
  public void close() {
    stopped = true;
    poll.wake();
    Threads.awaitEnd(thread);
    poll.close();
  }
}
