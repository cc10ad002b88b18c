// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Closes the arenas of connections, for providers. Closing a shared arena has three effects on
 * other threads, which this keeps from the program:
 *
 * <ul>
 *   <li>It fails while a thread has the memory in a system call (a received message on its way to a
 *       file, say).
 *   <li>A thread that is accessing the memory gets an exception, and HotSpot sets its interrupt
 *       flag as well. So it waits until no handler of the program's uses the memory.
 *   <li>It stops every thread of the process for a moment. When many connections are closed at the
 *       same time, these moments add up to seconds if the arenas are closed side by side. So one is
 *       closed at a time.
 * </ul>
 *
 * <p>What cannot be closed at once is closed by a thread of its own as soon as possible, so that
 * closing a connection neither fails nor blocks.
 */
public final class ArenaCloser {

  private static final System.Logger LOGGER = System.getLogger(ArenaCloser.class.getName());
  private static final long RETRY_NANOS = 10_000_000;
  private static final long PATIENCE_MS = 100;
  private static final ReentrantLock ONE_AT_A_TIME = new ReentrantLock();

  /** What could not be done yet; each returns whether it is done now. */
  private static final ArrayDeque<BooleanSupplier> LEFT = new ArrayDeque<>(); // its own lock

  private static boolean working; // under that lock: whether a thread looks after it

  private ArenaCloser() {}

  /**
   * Closes an arena, now or as soon as that is possible. Closing it twice does nothing.
   *
   * @param arena a shared arena
   */
  public static void close(Arena arena) {
    close(arena, () -> false, () -> {});
  }

  /**
   * Closes an arena, now or as soon as that is possible and it is not in use. Waits no longer than
   * 100 ms. Closing it twice does nothing.
   *
   * @param arena a shared arena
   * @param inUse returns whether a thread uses the arena's memory; once it does not, none begins to
   * @param before run before the arena is closed, when it is not in use; more than once if that
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
   * Gives up the memory of a connection, now or as soon as it is not in use.
   *
   * @param inUse returns whether a thread uses the memory; once it does not, none begins to
   * @param close gives it up
   */
  public static void whenUnused(BooleanSupplier inUse, Runnable close) {
    if (!inUse.getAsBoolean()) {
      close.run();
      return;
    }
    later(
        () -> {
          boolean unused = !inUse.getAsBoolean();
          if (unused) {
            close.run();
          }
          return unused;
        });
  }

  private static void later(Arena arena, BooleanSupplier inUse, Runnable before) {
    later(
        () -> {
          ONE_AT_A_TIME.lock();
          try {
            return tryClose(arena, inUse, before);
          } finally {
            ONE_AT_A_TIME.unlock();
          }
        });
  }

  /** The thread is only made when it is needed, which is hardly ever, and ends when it is not. */
  private static void later(BooleanSupplier attempt) {
    synchronized (LEFT) {
      LEFT.add(attempt);
      if (!working) {
        Thread.ofPlatform().daemon().name("ferrule arena closer").start(ArenaCloser::work);
        working = true; // not before, as there may be no memory for a thread
      }
    }
  }

  private static void work() {
    while (true) {
      LockSupport.parkNanos(RETRY_NANOS);
      List<BooleanSupplier> attempts;
      synchronized (LEFT) {
        if (LEFT.isEmpty()) {
          working = false;
          return;
        }
        attempts = List.copyOf(LEFT);
        LEFT.clear();
      }
      for (BooleanSupplier attempt : attempts) {
        if (!isDone(attempt)) {
          synchronized (LEFT) {
            LEFT.add(attempt);
          }
        }
      }
    }
  }

  /** What fails is not tried again, and is no reason to leave the others. */
  private static boolean isDone(BooleanSupplier attempt) {
    try {
      return attempt.getAsBoolean();
    } catch (RuntimeException e) {
      LOGGER.log(System.Logger.Level.WARNING, "giving up the memory of a connection", e);
      return true;
    }
  }

  private static boolean tryClose(Arena arena, BooleanSupplier inUse, Runnable before) {
    if (inUse.getAsBoolean()) {
      return false;
    }
    try {
      before.run();
    } catch (RuntimeException e) { // which is no reason to keep the memory
      LOGGER.log(System.Logger.Level.WARNING, "giving up the memory of a connection", e);
    }
    try {
      arena.close();
      return true;
    } catch (IllegalStateException e) {
      return !arena.scope().isAlive();
    }
  }
}
