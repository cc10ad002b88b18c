// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.WaitStrategy;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a condition by a {@link WaitStrategy}, for providers. One thread waits at a time; any
 * thread may {@link #wake} it.
 *
 * <p>Blocking is parking: the provider's thread that learns of events unparks. So a virtual thread
 * that waits frees its carrier, and nothing of this allocates.
 */
public final class Waiter {

  /** What is waited for. */
  public interface Condition {

    /**
     * Looks; throws if it will never come true.
     *
     * @return whether it is true
     */
    boolean isReady();

    /** Asks the peer for a wake-up; {@link #isReady} is called once more after that. */
    void arm();

    /**
     * Tells whether the peer has not answered that yet.
     *
     * @return whether it has not
     */
    boolean isArmed();

    /** Takes that back. */
    void disarm();

    /**
     * Returns what to throw when the waiting thread is interrupted.
     *
     * @return the exception
     */
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

  /** A spinning thread looks at the clock and its interrupt flag only so often. */
  private static final int SPINS_PER_CHECK = 256;

  private final WaitStrategy strategy;
  private final long secondLookNanos;
  private final long longestSleepNanos;
  private volatile @Nullable Thread waiting;
  private volatile @Nullable Thread sleeper;
  private volatile boolean woken; // since the sleeper last asked for it
  private volatile long sleeps; // written by one thread at a time

  /**
   * Creates a waiter.
   *
   * @param strategy how to wait
   */
  public Waiter(WaitStrategy strategy) {
    this(strategy, 0);
  }

  /**
   * Creates a waiter that does not quite trust the wake-ups.
   *
   * @param strategy how to wait
   * @param secondLookNanos how long after going to sleep to look once more, before sleeping for as
   *     long as it takes; 0 does not
   */
  public Waiter(WaitStrategy strategy, long secondLookNanos) {
    this(strategy, secondLookNanos, Long.MAX_VALUE);
  }

  /**
   * Creates a waiter whose wake-ups come from threads that may stop for ever before they give one.
   *
   * @param strategy how to wait
   * @param secondLookNanos how long after going to sleep to look once more; 0 does not
   * @param longestSleepNanos how long to sleep at most before looking again
   */
  public Waiter(WaitStrategy strategy, long secondLookNanos, long longestSleepNanos) {
    this.strategy = strategy;
    this.secondLookNanos = secondLookNanos;
    this.longestSleepNanos = longestSleepNanos;
  }

  /**
   * Waits.
   *
   * @param condition what to wait for
   * @param bounded whether there is a deadline
   * @param deadline until when, by System.nanoTime; only looked at if bounded
   * @return whether the condition came true; false after the deadline
   */
  public boolean await(Condition condition, boolean bounded, long deadline) {
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
    woken = false;
    try {
      condition.arm();
      if (condition.isReady()) {
        return true;
      }
      sleeps++;
      if (secondLookNanos > 0) {
        park(bounded, deadline, secondLookNanos);
        if (condition.isReady()) {
          return true;
        }
      }
      // Else the peer's wake-up is used up, and has to be asked for anew; also if it only looks as
      // if
      // it were not: a peer may take back what was asked for after it has given it.
      if (!woken && condition.isArmed()) {
        park(bounded, deadline, longestSleepNanos);
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
  public void wake() {
    Thread thread = sleeper;
    if (thread != null) {
      woken = true; // before the permit, with which it does not park if it has just looked at this
      LockSupport.unpark(thread);
    }
  }

  /**
   * Gives a waiting thread, whose condition will throw by now, the time to notice.
   *
   * @param nanos how long at most
   */
  public void awaitNobody(long nanos) {
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

  /**
   * Returns how often a thread went to sleep.
   *
   * @return the number of times
   */
  public long sleeps() {
    return sleeps;
  }
}
