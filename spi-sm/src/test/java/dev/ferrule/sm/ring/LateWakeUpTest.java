// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.WaitStrategy;
import dev.ferrule.posix.Membarrier;
import dev.ferrule.sm.Sleepers;
import dev.ferrule.support.Deadlines;
import dev.ferrule.support.Waiter;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Senders that are late, or stop, while they wake a receiver that sleeps on its flag. */
class LateWakeUpTest {

  private static final RingLayout LAYOUT = new RingLayout(12, 16, 1_024);

  private static final int SECONDS = 60;

  /** The delay of the second check, so long that only a wake-up ends it, too. */
  private static final long SECOND_CHECK_NANOS = TimeUnit.HOURS.toNanos(1);

  private final CountDownLatch testEnds = new CountDownLatch(1);

  /** A thread that receives a number of messages from two lanes. */
  private static final class Receiving implements Runnable, Waiter.Condition {
    private final Rings first;
    private final Rings lane;
    private final int messages;
    private final Thread thread = Thread.ofPlatform().daemon().unstarted(this);
    private final Waiter waiter = new Waiter(WaitStrategy.BLOCK, SECOND_CHECK_NANOS);
    private int received;
    private volatile int blocks;

    Receiving(Rings first, Rings lane, int messages) {
      this.first = first;
      this.lane = lane;
      this.messages = messages;
    }

    @Override
    public void run() {
      while (received < messages) {
        waiter.await(this, Deadlines.NEVER);
        (first.consumer.next() ? first : lane).receive();
        received++;
      }
    }

    @Override
    public boolean isReady() {
      return first.consumer.next() || lane.consumer.next();
    }

    @Override
    public void arm() {
      first.sleep.arm(true);
    }

    @Override
    public boolean isArmed() {
      return first.sleep.isArmed();
    }

    @Override
    public boolean isSure() {
      return first.sleep.isSure();
    }

    @Override
    public void disarm() {
      first.sleep.disarm();
    }

    @Override
    public void block(long nanos) {
      blocks++; // by this thread only
      first.sleep.await(nanos);
    }

    @Override
    public RuntimeException interrupted() {
      return new IllegalStateException("interrupted");
    }

    /** Waits until it sleeps, and has begun to sleep at least a number of times. */
    void awaitBlocked(int times) {
      long start = System.nanoTime();
      while (blocks < times || !Sleepers.isAsleep(thread)) {
        assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(SECONDS));
        Thread.yield();
      }
    }

    /** Waits until it has received all. */
    void awaitEnd() throws InterruptedException {
      thread.join(TimeUnit.SECONDS.toMillis(SECONDS));
      assertThat(thread.isAlive()).as("waits for a message that was sent").isFalse();
    }
  }

  @AfterEach
  void endThreads() {
    RingTestHook.ignore();
    testEnds.countDown();
  }

  private static void send(Rings rings) {
    assertThat(rings.stage(new byte[8])).isTrue();
    int flag = rings.producer.publish();
    if (flag != 0) {
      rings.producer.wakeOnFlag(flag);
    }
  }

  /** The sender is late: it wakes the receiver for a message that was received before. */
  @Test
  void aLateWakeUpDuringTheSecondCheckOfTheNextSleepLosesNoOther() throws Exception {
    Rings rings = new Rings(LAYOUT, !Membarrier.REGISTERED);
    Receiving receiver = new Receiving(rings, rings.lane(true), 2);
    Thread sender = Thread.currentThread();
    Set<RingTestPoint> reached = EnumSet.noneOf(RingTestPoint.class);
    RingTestHook.onReached(step -> {
      if (Thread.currentThread() == sender && reached.add(step)) {
        if (step == RingTestPoint.SENDER_PUBLISHED) {
          receiver.thread.start();
          receiver.awaitBlocked(1); // until the second check
        } else if (step == RingTestPoint.SENDER_HAS_WOKEN) {
          receiver.awaitBlocked(2);
        }
      }
    });

    send(rings);
    assertThat(reached).contains(RingTestPoint.SENDER_HAS_WOKEN);
    send(rings);

    receiver.awaitEnd();
  }

  /** The receiver sleeps when the sender finds its flag, or is only about to. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSenderThatStopsBeforeItHasWokenTheReceiverDelaysNoOther(boolean sleeps) throws Exception {
    Rings first = new Rings(LAYOUT, true);
    Rings lane = first.lane(true);
    CountDownLatch maySleep = new CountDownLatch(sleeps ? 0 : 1);
    CountDownLatch stopped = new CountDownLatch(1);
    Receiving receiver = new Receiving(first, lane, 2);
    Thread sender = Thread.ofPlatform().daemon().unstarted(() -> send(lane));
    RingTestHook.onReached(step -> {
      if (Thread.currentThread() == receiver.thread && step == RingTestPoint.SLEEP_CHECKED) {
        await(maySleep);
      } else if (Thread.currentThread() == sender && step == RingTestPoint.SENDER_MARKED) {
        maySleep.countDown();
        stopped.countDown();
        await(testEnds);
      } else if (Thread.currentThread() == sender && step == RingTestPoint.SENDER_HAS_WOKEN) {
        maySleep.countDown(); // if it were woken before the mark, it would be too early
        receiver.awaitBlocked(1);
      }
    });
    receiver.thread.start();
    receiver.awaitBlocked(sleeps ? 1 : 0);
    sender.start();
    await(stopped);

    send(first);

    receiver.awaitEnd();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(2 * SECONDS, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
