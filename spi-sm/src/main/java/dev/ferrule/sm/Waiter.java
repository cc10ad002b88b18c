// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.WaitStrategy;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a condition by a {@link WaitStrategy}. One thread waits at a time; any thread may
 * {@link #wake} it.
 *
 * <p>Blocking is parking: the endpoint's thread, which reads the FIFO, unparks. So a virtual thread
 * that waits frees its carrier, and nothing of this allocates.
 */
final class Waiter {

  /** What is waited for. */
  interface Condition {

    /** Looks; throws if it will never come true. */
    boolean isReady();

    /** Asks the peer for a wake-up; {@link #isReady} is called once more after that. */
    void arm();

    /** Whether the peer has not answered that yet. */
    boolean isArmed();

    /** Takes that back. */
    void disarm();

    /** What to throw when the waiting thread is interrupted. */
    RuntimeException interrupted();
  }

  /**
   * Rounds that are spun without the processor's pause instruction, which would let the thread look
   * only every few dozen cycles: about as long as a message takes that is on its way.
   */
  private static final int HOT_SPINS = 1_000;

  /**
   * Rounds that the adaptive strategy spins in all; none with one processor, which the peer needs
   * in order to send.
   */
  private static final int SPINS = Runtime.getRuntime().availableProcessors() > 1 ? 3_000 : 0;

  private static final int YIELDS = 10;

  /**
   * How long after going to sleep to look once more, before sleeping for as long as it takes. The
   * last look before the sleep is ordered behind the peer's looking by membarrier(2), but kernels
   * have been seen to leave out a processor that was idle when the process registered for it. What
   * the peer had published then is only late, by the time that a store takes to leave its
   * processor, which is far less than this.
   */
  private static final long SECOND_LOOK_NANOS = 500_000;

  /** A spinning thread looks at the clock and its interrupt flag only so often. */
  private static final int SPINS_PER_CHECK = 256;

  private final WaitStrategy strategy;
  private volatile @Nullable Thread waiting;
  private volatile @Nullable Thread sleeper;
  private long sleeps;

  Waiter(WaitStrategy strategy) {
    this.strategy = strategy;
  }

  /**
   * Waits.
   *
   * @param deadline until when, by System.nanoTime; only looked at if bounded
   * @return whether the condition came true; false after the deadline
   */
  boolean await(Condition condition, boolean bounded, long deadline) {
    waiting = Thread.currentThread();
    try {
      return look(condition, bounded, deadline);
    } finally {
      waiting = null;
    }
  }

  private boolean look(Condition condition, boolean bounded, long deadline) {
    int rounds = 0;
    while (!condition.isReady()) {
      rounds++;
      if (strategy == WaitStrategy.SPIN || (strategy == WaitStrategy.ADAPTIVE && rounds <= SPINS)) {
        if (rounds > HOT_SPINS) {
          Thread.onSpinWait();
        }
        if (rounds % SPINS_PER_CHECK != 0) {
          continue;
        }
      } else if (strategy == WaitStrategy.ADAPTIVE && rounds <= SPINS + YIELDS) {
        Thread.yield();
      } else if (sleep(condition, bounded, deadline)) {
        return true;
      }
      if (Thread.currentThread().isInterrupted()) {
        throw condition.interrupted();
      }
      if (bounded && System.nanoTime() - deadline >= 0) {
        return false;
      }
      if (rounds == Integer.MAX_VALUE) {
        rounds = SPINS + YIELDS;
      }
    }
    return true;
  }

  /** Blocks once; returns whether the condition came true before it did. */
  private boolean sleep(Condition condition, boolean bounded, long deadline) {
    sleeper = Thread.currentThread();
    try {
      condition.arm();
      if (condition.isReady()) {
        return true;
      }
      sleeps++;
      // A first, short nap: see SECOND_LOOK_NANOS.
      park(bounded, deadline, SECOND_LOOK_NANOS);
      if (condition.isReady()) {
        return true;
      }
      if (condition.isArmed()) { // else the peer's wake-up is used up, and has to be asked for anew
        park(bounded, deadline, Long.MAX_VALUE);
      }
      return false;
    } finally {
      sleeper = null;
      condition.disarm();
    }
  }

  private void park(boolean bounded, long deadline, long longest) {
    long nanos = bounded ? Math.min(longest, deadline - System.nanoTime()) : longest;
    if (nanos == Long.MAX_VALUE) {
      LockSupport.park(this);
    } else if (nanos > 0) {
      LockSupport.parkNanos(this, nanos);
    }
  }

  /** Makes a thread that sleeps look again. */
  void wake() {
    Thread thread = sleeper;
    if (thread != null) {
      LockSupport.unpark(thread);
    }
  }

  /**
   * Gives a waiting thread, whose condition will throw by now, the time to notice.
   *
   * @param nanos how long at most
   */
  void awaitNobody(long nanos) {
    long start = System.nanoTime();
    Thread thread = waiting;
    while (thread != null
        && thread != Thread.currentThread()
        && System.nanoTime() - start < nanos) {
      wake();
      Thread.yield();
      thread = waiting;
    }
  }

  /** How often a thread went to sleep. */
  long sleeps() {
    return sleeps;
  }
}
