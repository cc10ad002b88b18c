// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.WaitStrategy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sleeping until woken up, and what may go wrong with that. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WaiterTest {

  private static final long LONG_NANOS = TimeUnit.HOURS.toNanos(1);

  /** Comes true when a wake-up was asked for so many times. */
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
        .start(
            () -> {
              while (waiter.sleeps() == 0 || sleeper.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
              }
              waiter.wake();
            });
  }

  /**
   * A peer that sends from several threads takes the request for a wake-up back only after it has
   * answered it. So whoever was woken must not rely on a request that is still there.
   */
  @Test
  void whoeverWasWokenInVainAsksForTheNextWakeUpAnew() {
    Waiter waiter = new Waiter(WaitStrategy.BLOCK, LONG_NANOS);
    Asked condition = new Asked(2);
    wakeWhenAsleep(waiter, Thread.currentThread());

    assertThat(waiter.await(condition, false, 0)).isTrue();

    assertThat(condition.asked).hasValue(2);
  }

  @Test
  void whoeverIsNotWokenAtAllLooksAgainAfterTheLongestSleep() {
    Waiter waiter = new Waiter(WaitStrategy.BLOCK, 0, TimeUnit.MILLISECONDS.toNanos(1));
    Asked condition = new Asked(3);

    assertThat(waiter.await(condition, false, 0)).isTrue();
  }

  @Test
  void nobodySleepsBehindTheDeadline() {
    Waiter waiter = new Waiter(WaitStrategy.BLOCK, LONG_NANOS);
    long soon = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(20);

    assertThat(waiter.await(new Asked(Integer.MAX_VALUE), true, soon)).isFalse();
  }
}
