// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ferrule.WaitStrategy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests sleeping and waking up, including missed and spurious wake-ups. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WaiterTest {

  private static final long LONG_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final int SPINS_AT_LEAST = 1_000;
  private static final int LOOKS_AT_MOST = 50;

  /** Becomes true when a wake-up was requested a given number of times. */
  private static class Asked implements Waiter.Condition {
    private final int times;
    private final AtomicInteger asked = new AtomicInteger();

    Asked(int times) {
      this.times = times;
    }

    @Override
    public boolean isReady() {
      return asked.get() >= times;
    }

    @Override
    public void arm() {
      asked.incrementAndGet();
    }

    @Override
    public boolean isArmed() {
      return true;
    }

    @Override
    public void disarm() {}

    @Override
    public RuntimeException interrupted() {
      return new IllegalStateException("interrupted");
    }
  }

  private static void wakeWhenAsleep(Waiter waiter, Thread sleeper) {
    Thread.ofPlatform()
        .daemon()
        .start(() -> {
          while (waiter.sleeps() == 0 || sleeper.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
          }
          waiter.wake();
        });
  }

  /**
   * A peer that sends from several threads clears the request for a wake-up only after it has sent
   * the wake-up. A woken thread must therefore not rely on a request that still seems pending.
   */
  @Test
  void aSpuriousWakeUpIsFollowedByANewRequest() {
    Waiter waiter = new Waiter(WaitStrategy.BLOCK, LONG_NANOS);
    Asked condition = new Asked(2);
    wakeWhenAsleep(waiter, Thread.currentThread());

    assertThat(waiter.await(condition, Deadlines.NEVER)).isTrue();

    assertThat(condition.asked).hasValue(2);
  }

  /** Such as by an unpark for an earlier wait: the peer's earlier stores may not be visible yet. */
  @Test
  void aThreadThatIsUnparkedBeforeTheSecondCheckDoesNotSleepWithoutALimit() {
    Waiter waiter = new Waiter(WaitStrategy.BLOCK, LONG_NANOS);
    Asked condition = new Asked(2);
    LockSupport.unpark(Thread.currentThread());

    assertThat(waiter.await(condition, System.nanoTime() + TimeUnit.MINUTES.toNanos(1))).isTrue();

    assertThat(condition.asked).hasValue(2);
  }

  /** A wake-up that comes during the second check, by a thread that is slow. */
  private static final class SlowWakeUp extends Asked {
    private final CountDownLatch blocks = new CountDownLatch(1);
    private final CountDownLatch permit = new CountDownLatch(1);
    private final CountDownLatch decided = new CountDownLatch(1);

    SlowWakeUp() {
      super(2);
    }

    @Override
    public void arm() {
      super.arm();
      if (isReady()) {
        decided.countDown();
      }
    }

    @Override
    public void block(long nanos) {
      if (blocks.getCount() == 0) {
        decided.countDown();
        throw new AssertionError("blocks although the wake-up is used up");
      }
      long start = System.nanoTime();
      blocks.countDown();
      await(permit);
      while (System.nanoTime() == start) {
        Thread.onSpinWait(); // until the delay has passed
      }
    }

    /** Returns when the sleeper has decided what to do next. */
    @Override
    public void unblock(Thread sleeper) {
      permit.countDown();
      await(decided);
    }

    static void await(CountDownLatch latch) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  /**
   * The wake-up is for a message that was received without it, and arrives as the delay ends. The
   * peer then clears the request, so without another request the next message would wake no thread.
   */
  @Test
  void aThreadThatIsWokenAtTheEndOfTheDelayRequestsAnotherWakeUpBeforeItBlocks() {
    Waiter waiter = new Waiter(WaitStrategy.BLOCK, 1);
    SlowWakeUp condition = new SlowWakeUp();
    Thread.ofPlatform()
        .daemon()
        .start(() -> {
          SlowWakeUp.await(condition.blocks);
          waiter.wake();
        });

    assertThat(waiter.await(condition, Deadlines.NEVER)).isTrue();
  }

  @Test
  void theEndOfTheDelayOfTheSecondCheckIsReported() {
    long millisecond = TimeUnit.MILLISECONDS.toNanos(1);
    Waiter waiter = new Waiter(WaitStrategy.BLOCK, millisecond, millisecond);
    AtomicInteger passed = new AtomicInteger();
    Asked condition =
        new Asked(2) {
          @Override
          public void onDelayPassed() {
            passed.incrementAndGet();
          }
        };

    assertThat(waiter.await(condition, Deadlines.NEVER)).isTrue();

    assertThat(passed).hasPositiveValue();
  }

  @Test
  void aThreadThatIsNotWokenChecksAgainAfterTheLongestSleep() {
    Waiter waiter = new Waiter(WaitStrategy.BLOCK, 0, TimeUnit.MILLISECONDS.toNanos(1));
    Asked condition = new Asked(3);

    assertThat(waiter.await(condition, Deadlines.NEVER)).isTrue();
  }

  @Test
  void noThreadSleepsPastTheDeadline() {
    Waiter waiter = new Waiter(WaitStrategy.BLOCK, LONG_NANOS);
    long soon = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(20);

    assertThat(waiter.await(new Asked(Integer.MAX_VALUE), soon)).isFalse();
  }

  /** Is never true; counts the checks before the first sleep. */
  private static final class Looks extends Asked {
    private int looks;
    private int looksBeforeSleep;

    Looks() {
      super(1);
    }

    @Override
    public boolean isReady() {
      looks++;
      return super.isReady();
    }

    @Override
    public void arm() {
      looksBeforeSleep = looks;
      super.arm();
    }
  }

  private static int looksBeforeSleep(Waiter waiter) {
    Looks condition = new Looks();
    waiter.await(condition, Deadlines.NEVER);
    return condition.looksBeforeSleep;
  }

  @Test
  void aThreadSpinsWhileNoOtherThreadNeedsTheProcessor() {
    assumeTrue(Runtime.getRuntime().availableProcessors() > 1, "one processor");
    AtomicInteger yields = new AtomicInteger();
    Waiter waiter =
        new Waiter(
            WaitStrategy.ADAPTIVE,
            0,
            LONG_NANOS,
            () -> {
              yields.incrementAndGet();
              return false;
            });

    assertThat(looksBeforeSleep(waiter)).isGreaterThan(SPINS_AT_LEAST);
    assertThat(yields).as("yields, which detect other threads").hasPositiveValue();
  }

  @Test
  void aThreadBlocksSoonInsteadOfSpinningWhileOthersNeedTheProcessor() {
    Waiter waiter = new Waiter(WaitStrategy.ADAPTIVE, 0, LONG_NANOS, () -> true);
    looksBeforeSleep(waiter); // detects the other threads

    assertThat(looksBeforeSleep(waiter)).isLessThan(LOOKS_AT_MOST);
  }

  @Test
  void aThreadSpinsAgainOnceTheProcessorIsFree() {
    AtomicBoolean others = new AtomicBoolean(true);
    Waiter waiter = new Waiter(WaitStrategy.ADAPTIVE, 0, LONG_NANOS, others::get);
    looksBeforeSleep(waiter);

    others.set(false);

    assertThat(looksBeforeSleep(waiter)).isGreaterThan(SPINS_AT_LEAST);
  }

  /** A check reserves space, so space reserved twice would be lost. */
  @ParameterizedTest
  @EnumSource
  void aConditionThatBecameTrueIsNotCheckedAgain(WaitStrategy strategy) {
    for (int trueAt = 1; trueAt < 2 * SPINS_AT_LEAST; trueAt += 1 + trueAt / 16) {
      int expected = trueAt;
      Waiter waiter =
          new Waiter(strategy, 0, TimeUnit.MICROSECONDS.toNanos(1), () -> expected % 2 == 0);
      AtomicInteger looks = new AtomicInteger();
      Asked condition =
          new Asked(Integer.MAX_VALUE) {
            @Override
            public boolean isReady() {
              return looks.incrementAndGet() == expected;
            }
          };

      assertThat(waiter.await(condition, Deadlines.NEVER)).isTrue();
      assertThat(looks).hasValue(expected);
    }
  }
}
