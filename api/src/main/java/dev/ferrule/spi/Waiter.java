// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.WaitStrategy;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
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

    /**
     * Returns whether the peer is sure to notice the last {@link #arm}. Otherwise it may be late,
     * so the sleeper looks a second time after a while.
     *
     * @return whether it is; false if the provider does not know
     */
    default boolean isSure() {
      return false;
    }

    /** Takes that back. */
    void disarm();

    /**
     * Blocks the current thread, after {@link #arm}, until the peer's wake-up, {@link #unblock} or
     * an interrupt; may return earlier.
     *
     * @param nanos how long at most; {@link Long#MAX_VALUE} is without a limit
     */
    default void block(long nanos) {
      if (nanos == Long.MAX_VALUE) {
        LockSupport.park(this);
      } else {
        LockSupport.parkNanos(this, nanos);
      }
    }

    /**
     * Ends the {@link #block} that a thread is in, or is about to begin.
     *
     * @param sleeper the thread
     */
    default void unblock(Thread sleeper) {
      LockSupport.unpark(sleeper);
    }

    /**
     * Returns what to throw when the waiting thread is interrupted.
     *
     * @return the exception
     */
    RuntimeException interrupted();
  }

  /** Then no thread spins by the adaptive strategy, since the peer needs the processor to send. */
  private static final boolean ONE_PROCESSOR = Runtime.getRuntime().availableProcessors() == 1;

  /**
   * Rounds that are spun without the processor's pause instruction, which would let the thread look
   * only every few dozen cycles: about as long as a message takes that is on its way.
   */
  private static final int HOT_SPINS = 1_000;

  /** Rounds that the adaptive strategy spins in all: some tens of microseconds. */
  private static final int SPINS = 3_000;

  /** A spinning thread yields, and looks at the clock and its interrupt flag, only so often. */
  private static final int SPINS_PER_CHECK = 256;

  /**
   * A yield that takes longer has let another thread run: two context switches, and what the other
   * thread did. With no other thread to run, a yield takes 0.2 to 0.5 µs.
   */
  private static final long LONG_YIELD_NANOS = 2_000;

  /**
   * So many yields let others run before a thread blocks. Each costs two context switches; to block
   * and to be woken up costs several times as much as all of them.
   */
  private static final int YIELDS = 10;

  private final WaitStrategy strategy;
  private final long secondLookNanos;
  private final long longestSleepNanos;
  private final BooleanSupplier letsOthersRun;
  private volatile @Nullable Thread waiting;
  private volatile @Nullable Thread sleeper;
  private @Nullable Condition awaited; // by the sleeper, and written before it
  private volatile boolean woken; // since the sleeper last asked for it
  private volatile long sleeps; // written by one thread at a time

  // Whether another thread ran during the last yield, as there are more threads than processors.
  // Of the waiting thread, by the adaptive strategy.
  private boolean crowded = ONE_PROCESSOR;

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
    this(strategy, secondLookNanos, longestSleepNanos, Waiter::yieldToOthers);
  }

  /** For tests: with another way to yield, which returns whether another thread has run. */
  Waiter(
      WaitStrategy strategy,
      long secondLookNanos,
      long longestSleepNanos,
      BooleanSupplier letsOthersRun) {
    this.strategy = strategy;
    this.secondLookNanos = secondLookNanos;
    this.longestSleepNanos = longestSleepNanos;
    this.letsOthersRun = letsOthersRun;
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
    return switch (strategy) {
      case SPIN -> spin(condition, bounded, deadline);
      case BLOCK -> block(condition, bounded, deadline);
      case ADAPTIVE ->
          spinOrYield(condition, bounded, deadline) || block(condition, bounded, deadline);
    };
  }

  private boolean spin(Condition condition, boolean bounded, long deadline) {
    for (long rounds = 1; !condition.isReady(); rounds++) {
      if (rounds > HOT_SPINS) {
        Thread.onSpinWait();
      }
      if (rounds % SPINS_PER_CHECK == 0 && isOver(condition, bounded, deadline)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Spins as long as no other thread needs the processor, and yields if one does: most likely it is
   * the peer, or a thread that the peer waits for. Only yields show it, as those threads may be of
   * another process.
   *
   * @return whether the condition came true
   */
  private boolean spinOrYield(Condition condition, boolean bounded, long deadline) {
    int rounds = 0;
    int yields = 0;
    while (!condition.isReady()) {
      if (crowded) {
        if (yields == YIELDS || isOver(condition, bounded, deadline)) {
          return false;
        }
        yields++;
        crowded = letsOthersRun.getAsBoolean();
        continue;
      }
      rounds++;
      if (rounds > HOT_SPINS) {
        Thread.onSpinWait();
      }
      if (rounds % SPINS_PER_CHECK == 0) {
        if (rounds > SPINS || isOver(condition, bounded, deadline)) {
          return false;
        }
        if (rounds > HOT_SPINS || yields > 0) {
          crowded = letsOthersRun.getAsBoolean();
        }
      }
    }
    return true;
  }

  /** Yields; returns whether another thread has run meanwhile. */
  private static boolean yieldToOthers() {
    long start = System.nanoTime();
    Thread.yield();
    return ONE_PROCESSOR || System.nanoTime() - start > LONG_YIELD_NANOS;
  }

  private boolean block(Condition condition, boolean bounded, long deadline) {
    while (!condition.isReady()) {
      if (isOver(condition, bounded, deadline)) {
        return false;
      }
      if (sleep(condition, bounded, deadline)) {
        return true;
      }
      if (isOver(condition, bounded, deadline)) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether the deadline has passed; throws if the thread was interrupted. */
  private static boolean isOver(Condition condition, boolean bounded, long deadline) {
    if (Thread.currentThread().isInterrupted()) {
      throw condition.interrupted();
    }
    return bounded && System.nanoTime() - deadline >= 0;
  }

  /** Blocks once; returns whether the condition came true before it did. */
  private boolean sleep(Condition condition, boolean bounded, long deadline) {
    awaited = condition;
    sleeper = Thread.currentThread();
    woken = false;
    try {
      condition.arm();
      if (condition.isReady()) {
        return true;
      }
      sleeps++;
      if (secondLookNanos > 0 && !condition.isSure()) {
        block(condition, bounded, deadline, secondLookNanos);
        if (condition.isReady()) {
          return true;
        }
      }
      // Else the peer's wake-up is used up, and has to be asked for anew; also if it only looks as
      // if it were not: a peer may take back what was asked for after it has given it.
      if (!woken && condition.isArmed()) {
        block(condition, bounded, deadline, longestSleepNanos);
      }
      return false;
    } finally {
      sleeper = null;
      condition.disarm();
    }
  }

  private static void block(Condition condition, boolean bounded, long deadline, long longest) {
    long nanos = bounded ? Math.min(longest, deadline - System.nanoTime()) : longest;
    if (nanos > 0) {
      condition.block(nanos);
    }
  }

  /** Makes a thread that sleeps look again. */
  public void wake() {
    Thread thread = sleeper;
    Condition condition = awaited;
    if (thread != null && condition != null) {
      woken = true; // before it is unblocked, so that it does not block if it has just looked
      condition.unblock(thread);
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
