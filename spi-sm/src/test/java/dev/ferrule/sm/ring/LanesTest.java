// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Two senders with a lane each, and a receiver that sleeps on the one flag of both. Not by
 * jcstress, which runs no test of three threads on two processors.
 */
class LanesTest {

  private static final int ROUNDS = 20_000;

  /** Far longer than a thread that was woken takes to run. */
  private static final long LOST_NANOS = 60_000_000_000L;

  private final Rings first = new Rings(new RingLayout(12, 16, 1_024), true);
  private final Rings lane = first.lane(true);
  private final AtomicInteger received = new AtomicInteger();

  /** Sends a message in each round. The next round begins when both messages are received. */
  private void send(Rings rings) {
    for (int round = 0; round < ROUNDS; round++) {
      assertThat(rings.stage(new byte[8])).isTrue();
      int flag = rings.producer.publish();
      if (flag != 0) {
        rings.producer.wakeOnFlag(flag);
      }
      while (received.get() < 2 * (round + 1)) {
        Thread.yield();
      }
    }
  }

  /** Receives all; returns how often it slept. */
  private int receive() {
    int sleeps = 0;
    while (received.get() < 2 * ROUNDS) {
      first.sleep.arm(true);
      int found = look(first) + look(lane);
      if (found == 0) {
        delay();
        long start = System.nanoTime();
        first.sleep.await(LOST_NANOS);
        assertThat(System.nanoTime() - start).as("a sleep beside messages").isLessThan(LOST_NANOS);
        sleeps++;
      }
      first.sleep.disarm();
      received.addAndGet(found);
    }
    return sleeps;
  }

  /** Lets the other threads do something, or nothing, in between. */
  private static void delay() {
    for (int rest = ThreadLocalRandom.current().nextInt(500); rest > 0; rest--) {
      Thread.onSpinWait();
    }
  }

  private static int look(Rings rings) {
    boolean found = rings.consumer.next();
    if (found) {
      rings.consumer.advance();
      rings.consumer.acknowledge();
    }
    return found ? 1 : 0;
  }

  @BeforeEach
  void delaySenders() {
    RingTestHook.onReached(step -> {
      switch (step) {
        case SENDER_WAKES, SENDER_MARKED, SENDER_HAS_WOKEN -> delay();
        default -> {}
      }
    });
  }

  @AfterEach
  void removeHook() {
    RingTestHook.ignore();
  }

  @Test
  void noWakeUpIsLostInWhateverOrderTheSendersWakeAndClear() {
    CompletableFuture<Void> one = CompletableFuture.runAsync(() -> send(first), LanesTest::start);
    CompletableFuture<Void> other = CompletableFuture.runAsync(() -> send(lane), LanesTest::start);
    assertThat(receive()).isPositive();
    one.join();
    other.join();
  }

  private static void start(Runnable task) {
    Thread.ofPlatform().daemon().start(task);
  }
}
