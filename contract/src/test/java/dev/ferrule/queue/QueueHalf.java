// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.queue;

import dev.ferrule.WaitStrategy;
import org.jspecify.annotations.Nullable;

/**
 * A half of a connection, with waiting and the detection of a second thread.
 *
 * @param <S> the slots that it lends
 */
abstract class QueueHalf<S extends Slot> {

  final QueueConnection connection;
  final Object lock;
  private final String what;
  private @Nullable Thread user; // while it waits or is in a handler; guarded by the lock
  long wakeups;

  /** Creates a half; {@code what} names the event that it waits for. */
  QueueHalf(QueueConnection connection, String what) {
    this.connection = connection;
    this.lock = connection.lock;
    this.what = what;
  }

  /**
   * Lends the next slot, or returns null if there is none. Called with the lock, like the other
   * methods.
   */
  abstract @Nullable S lendNext();

  /** Called before a call waits, which it may refuse. */
  abstract void beforeWait();

  /** Checks that no other thread is in a call of this half. */
  final void checkThread() {
    Thread current = Thread.currentThread();
    if (user != null && user != current) {
      throw new IllegalStateException(
          connection.uri()
              + " is used by two threads, "
              + user.getName()
              + " and "
              + current.getName()
              + "; only one at a time may use a sender or receiver");
    }
  }

  final void setUser(@Nullable Thread thread) {
    user = thread;
  }

  /** Lends the next slot; waits for it if there is none. Called without the lock. */
  final S lend(long timeoutNanos) {
    synchronized (lock) {
      checkThread();
      S slot = lendNext();
      if (slot != null) {
        return slot;
      }
      beforeWait();
      setUser(Thread.currentThread());
    }
    try {
      return lendLater(timeoutNanos);
    } finally {
      synchronized (lock) {
        setUser(null);
      }
    }
  }

  private S lendLater(long timeoutNanos) {
    long start = System.nanoTime();
    boolean spins = connection.waitStrategy == WaitStrategy.SPIN;
    while (true) {
      synchronized (lock) {
        S slot = lendNext();
        if (slot != null) {
          return slot;
        }
        if (!spins || System.nanoTime() - start >= timeoutNanos) {
          QueueListener.pause(lock, connection.uri(), start, timeoutNanos, what);
          wakeups++;
        }
      }
      if (spins) {
        Thread.yield(); // the other end may need this processor
        if (Thread.currentThread().isInterrupted()) {
          throw QueueListener.interrupted(connection.uri(), what);
        }
      }
    }
  }
}
