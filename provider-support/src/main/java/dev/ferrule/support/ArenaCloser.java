// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Closes the arenas of connections. Closing a shared arena has three effects on other threads, from
 * which this class protects the program:
 *
 * <ul>
 *   <li>It fails while a thread uses the memory in a system call, for example to write a received
 *       message to a file. Then the close is retried.
 *   <li>A thread that accesses the memory gets an exception, and HotSpot also sets its interrupt
 *       status. So the arena is not closed before no handler of the program uses the memory.
 *   <li>It stops every thread of the process for a moment. When many connections are closed at the
 *       same time, these moments add up to seconds if the arenas are closed concurrently. So arenas
 *       are closed one at a time.
 * </ul>
 *
 * <p>A daemon thread closes what cannot be closed at once, as soon as possible, so that closing a
 * connection neither fails nor blocks.
 */
public final class ArenaCloser {

  private static final System.Logger LOGGER = System.getLogger(ArenaCloser.class.getName());
  private static final long RETRY_NANOS = 10_000_000;
  private static final long PATIENCE_MS = 100;
  private static final ReentrantLock ONE_AT_A_TIME = new ReentrantLock();

  /** Attempts that have not succeeded yet; each returns whether it is done. */
  private static final ArrayDeque<BooleanSupplier> LEFT = new ArrayDeque<>(); // also the lock

  private static boolean working; // under that lock: whether the daemon thread runs

  private ArenaCloser() {}

  /**
   * Closes an arena, now or as soon as possible. Closing it twice does nothing.
   *
   * @param arena a shared arena
   */
  public static void close(Arena arena) {
    close(arena, () -> false, () -> {});
  }

  /**
   * Closes an arena, now or as soon as possible and not in use. Waits for 100 ms at most. Closing
   * it twice does nothing.
   *
   * @param arena a shared arena
   * @param inUse returns whether a thread uses the arena's memory; once it returns false, no
   *     further use begins
   * @param before run before the arena is closed, while it is not in use; run again if closing
   *     fails
   */
  public static void close(Arena arena, BooleanSupplier inUse, Runnable before) {
    boolean locked = false;
    try {
      locked = ONE_AT_A_TIME.tryLock(PATIENCE_MS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    try {
      if (!locked || !tryClose(arena, inUse, before)) {
        later(arena, inUse, before);
      }
    } finally {
      if (locked) {
        ONE_AT_A_TIME.unlock();
      }
    }
  }

  /**
   * Releases the memory of a connection, now or as soon as it is not in use.
   *
   * @param inUse returns whether a thread uses the memory; once it returns false, no further use
   *     begins
   * @param close releases the memory
   */
  public static void whenUnused(BooleanSupplier inUse, Runnable close) {
    if (!inUse.getAsBoolean()) {
      close.run();
      return;
    }
    later(() -> {
      boolean unused = !inUse.getAsBoolean();
      if (unused) {
        close.run();
      }
      return unused;
    });
  }

  private static void later(Arena arena, BooleanSupplier inUse, Runnable before) {
    later(() -> {
      ONE_AT_A_TIME.lock();
      try {
        return tryClose(arena, inUse, before);
      } finally {
        ONE_AT_A_TIME.unlock();
      }
    });
  }

  /**
   * Starts the daemon thread only when needed, which is rare. It ends when there is no work left.
   */
  private static void later(BooleanSupplier attempt) {
    synchronized (LEFT) {
      LEFT.add(attempt);
      if (!working) {
        Thread.ofPlatform().daemon().name("ferrule arena closer").start(ArenaCloser::work);
        working = true; // not before, because starting a thread may fail for lack of memory
      }
    }
  }

  private static void work() {
    while (true) {
      LockSupport.parkNanos(RETRY_NANOS);
      int count;
      synchronized (LEFT) {
        count = LEFT.size();
        if (count == 0) {
          working = false;
          return;
        }
      }
      for (int i = 0; i < count; i++) {
        attemptNext();
      }
    }
  }

  private static void attemptNext() {
    BooleanSupplier attempt;
    synchronized (LEFT) {
      attempt = LEFT.remove();
    }
    if (!isDone(attempt)) {
      synchronized (LEFT) {
        LEFT.add(attempt);
      }
    }
  }

  /**
   * Makes an attempt. One that fails is not repeated, unless the JVM lacked a resource, and does
   * not affect the others: without this thread, no memory would be released any more.
   */
  private static boolean isDone(BooleanSupplier attempt) {
    try {
      return attempt.getAsBoolean();
    } catch (VirtualMachineError e) {
      return false;
    } catch (Throwable e) {
      warn(e);
      return true;
    }
  }

  private static void warn(Throwable failure) {
    try {
      LOGGER.log(
          System.Logger.Level.WARNING, "releasing the memory of a connection failed", failure);
    } catch (Throwable e) {
      // the logger itself may lack memory or a descriptor
    }
  }

  private static boolean tryClose(Arena arena, BooleanSupplier inUse, Runnable before) {
    if (inUse.getAsBoolean()) {
      return false;
    }
    try {
      before.run();
    } catch (RuntimeException e) { // which is no reason to keep the memory
      warn(e);
    }
    try {
      arena.close();
      return true;
    } catch (IllegalStateException e) {
      return !arena.scope().isAlive();
    }
  }
}
