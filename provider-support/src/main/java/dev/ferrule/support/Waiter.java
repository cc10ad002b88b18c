// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.WaitStrategy;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a condition, using a {@link WaitStrategy}. One thread at a time waits; any thread may
 * {@link #wake} it.
 *
 * <p>A blocked thread is parked, and the provider's event thread unparks it. A virtual thread that
 * waits therefore releases its carrier. A {@link Condition} may block a platform thread in another
 * way. Waiting does not allocate.
 */
public final class Waiter {

  /** The condition to wait for. */
  public interface Condition {

    /** {@return whether the condition is true; throws if it never will be} */
    boolean isReady();

    /** Requests a wake-up from the peer; {@link #isReady} is called once more after that. */
    void arm();

    /**
     * {@return whether the request of {@link #arm} is still pending: true if the peer has not
     * answered it yet}
     */
    boolean isArmed();

    /**
     * {@return whether the peer is certain to see the last {@link #arm}: true if it is certain;
     * false if the provider cannot know} Otherwise its wake-up may be late, so the sleeper checks a
     * second time after a delay, and blocks without a limit only after that.
     */
    default boolean isSure() {
      return false;
    }

    /**
     * Called before the second check if its whole delay has passed: by now this thread sees all
     * that the peer had stored before it could see {@link #arm}.
     */
    default void onDelayPassed() {}

    /** Withdraws the request of {@link #arm}. */
    void disarm();

    /**
     * Blocks the current thread, after {@link #arm}, until the peer's wake-up, {@link #unblock} or
     * an interrupt. May return spuriously.
     *
     * @param nanos the maximum time; {@link Long#MAX_VALUE} is unlimited
     */
    default void block(long nanos) {
      if (nanos == Long.MAX_VALUE) {
        LockSupport.park(this);
      } else {
        LockSupport.parkNanos(this, nanos);
      }
    }

    /**
     * Unblocks a thread that is in {@link #block}, or is about to enter it.
     *
     * @param sleeper the thread
     */
    default void unblock(Thread sleeper) {
      LockSupport.unpark(sleeper);
    }

    /** {@return the exception for an interrupt of the waiting thread} */
    RuntimeException interrupted();
  }

  /** If true, the adaptive strategy does not spin, because the peer needs the processor to send. */
  private static final boolean ONE_PROCESSOR = Runtime.getRuntime().availableProcessors() == 1;

  /**
   * The rounds spun without the processor's pause instruction, which would limit the checks to one
   * per few dozen cycles. They last about as long as a message in flight.
   */
  private static final int HOT_SPINS = 1_000;

  /** The total rounds spun by the adaptive strategy: some tens of microseconds. */
  private static final int SPINS = 3_000;

  /**
   * A spinning thread yields, and checks the clock and its interrupt status, once per this many
   * rounds.
   */
  private static final int SPINS_PER_CHECK = 256;

  /**
   * A yield that takes longer than this has let another thread run: two context switches and the
   * other thread's work. Without another runnable thread, a yield takes 0.2 to 0.5 µs.
   */
  private static final long LONG_YIELD_NANOS = 2_000;

  /**
   * The number of yields that let other threads run before a thread blocks. Each costs two context
   * switches. Blocking and waking up costs several times as much as all of them.
   */
  private static final int YIELDS = 10;

  private final WaitStrategy strategy;
  private final long secondCheckNanos;
  private final long longestSleepNanos;
  private final BooleanSupplier letsOthersRun;
  private volatile @Nullable Thread waiting;
  private volatile @Nullable Thread sleeper;
  private @Nullable Condition awaited; // the sleeper's condition, written before sleeper
  private volatile boolean woken; // since the sleeper last armed the condition
  private volatile long sleeps; // written by one thread at a time

  // Whether another thread ran during the last yield, because there are more runnable threads than
  // processors. Used by the waiting thread, by the adaptive strategy.
  private boolean crowded = ONE_PROCESSOR;

  /**
   * Creates a waiter.
   *
   * @param strategy the wait strategy
   */
  public Waiter(WaitStrategy strategy) {
    this(strategy, 0);
  }

  /**
   * Creates a waiter that checks a second time, because a wake-up may be late.
   *
   * @param strategy the wait strategy
   * @param secondCheckNanos the delay of the second check after falling asleep; 0 disables it
   */
  public Waiter(WaitStrategy strategy, long secondCheckNanos) {
    this(strategy, secondCheckNanos, Long.MAX_VALUE);
  }

  /**
   * Creates a waiter whose wake-ups come from threads that may stop forever before they send one.
   *
   * @param strategy the wait strategy
   * @param secondCheckNanos the delay of the second check after falling asleep; 0 disables it
   * @param longestSleepNanos the maximum time to sleep before checking again
   */
  public Waiter(WaitStrategy strategy, long secondCheckNanos, long longestSleepNanos) {
    this(strategy, secondCheckNanos, longestSleepNanos, Waiter::yieldToOthers);
  }

  /** For tests: yields by a function that returns whether another thread has run. */
  Waiter(
      WaitStrategy strategy,
      long secondCheckNanos,
      long longestSleepNanos,
      BooleanSupplier letsOthersRun) {
    this.strategy = strategy;
    this.secondCheckNanos = secondCheckNanos;
    this.longestSleepNanos = longestSleepNanos;
    this.letsOthersRun = letsOthersRun;
  }

  /**
   * Waits for a condition.
   *
   * @param condition the condition
   * @param deadline the deadline, by System.nanoTime; or {@link Deadlines#NEVER}
   * @return true if the condition became true; false after the deadline
   */
  public boolean await(Condition condition, long deadline) {
    waiting = Thread.currentThread();
    try {
      return look(condition, deadline);
    } finally {
      waiting = null;
    }
  }

  private boolean look(Condition condition, long deadline) {
    return switch (strategy) {
      case SPIN -> spin(condition, deadline);
      case BLOCK -> block(condition, deadline);
      case ADAPTIVE -> spinOrYield(condition, deadline) || block(condition, deadline);
    };
  }

  private boolean spin(Condition condition, long deadline) {
    for (long rounds = 1; !condition.isReady(); rounds++) {
      if (rounds > HOT_SPINS) {
        Thread.onSpinWait();
      }
      if (rounds % SPINS_PER_CHECK == 0 && isOver(condition, deadline)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Spins while no other thread needs the processor, and yields if one does: most likely it is the
   * peer, or a thread for which the peer waits. Only yields reveal it, because those threads may
   * belong to another process.
   *
   * @return true if the condition became true
   */
  private boolean spinOrYield(Condition condition, long deadline) {
    int rounds = 0;
    int yields = 0;
    while (!condition.isReady()) {
      if (crowded) {
        if (yields == YIELDS || isOver(condition, deadline)) {
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
        if (rounds > SPINS || isOver(condition, deadline)) {
          return false;
        }
        if (rounds > HOT_SPINS || yields > 0) {
          crowded = letsOthersRun.getAsBoolean();
        }
      }
    }
    return true;
  }

  /** Yields; returns whether another thread has run. */
  private static boolean yieldToOthers() {
    long start = System.nanoTime();
    Thread.yield();
    return ONE_PROCESSOR || System.nanoTime() - start > LONG_YIELD_NANOS;
  }

  private boolean block(Condition condition, long deadline) {
    while (!condition.isReady()) {
      if (isOver(condition, deadline)) {
        return false;
      }
      if (sleep(condition, deadline)) {
        return true;
      }
      if (isOver(condition, deadline)) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether the deadline has passed; throws if the thread was interrupted. */
  private static boolean isOver(Condition condition, long deadline) {
    if (Thread.currentThread().isInterrupted()) {
      throw condition.interrupted();
    }
    return Deadlines.left(deadline) <= 0;
  }

  /** Blocks once; returns whether the condition became true before that. */
  private boolean sleep(Condition condition, long deadline) {
    awaited = condition;
    sleeper = Thread.currentThread();
    woken = false;
    try {
      condition.arm();
      if (condition.isReady()) {
        return true;
      }
      sleeps++;
      boolean isSure = secondCheckNanos == 0 || condition.isSure();
      if (!isSure) {
        isSure = delaySecondCheck(condition, deadline);
        if (condition.isReady()) {
          return true;
        }
      }
      // Otherwise the peer's wake-up is consumed and must be requested anew. That may be so even if
      // the request seems pending: the peer clears the request after it has sent the wake-up.
      if (isSure && !woken && condition.isArmed()) {
        block(condition, deadline, longestSleepNanos);
      }
      return false;
    } finally {
      sleeper = null;
      condition.disarm();
    }
  }

  /** Blocks until the second check; returns whether the whole delay has passed. */
  private boolean delaySecondCheck(Condition condition, long deadline) {
    long start = System.nanoTime();
    block(condition, deadline, secondCheckNanos);
    boolean passed = System.nanoTime() - start >= secondCheckNanos;
    if (passed) {
      condition.onDelayPassed();
    }
    return passed;
  }

  private static void block(Condition condition, long deadline, long longest) {
    long nanos = Math.min(longest, Deadlines.left(deadline));
    if (nanos > 0) {
      condition.block(nanos);
    }
  }

  /** Makes a sleeping thread check its condition. */
  public void wake() {
    Thread thread = sleeper;
    Condition condition = awaited;
    if (thread != null && condition != null) {
      woken = true; // before unblocking, so that the sleeper does not block if it has just checked
      condition.unblock(thread);
    }
  }

  /**
   * Waits until no thread is waiting. The condition of a waiting thread must already throw.
   *
   * @param nanos the maximum time, in nanoseconds
   */
  public void awaitNoWaiters(long nanos) {
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

  /** {@return how often a thread has fallen asleep} */
  public long sleeps() {
    return sleeps;
  }
}
