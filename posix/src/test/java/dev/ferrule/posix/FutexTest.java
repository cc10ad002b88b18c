// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class FutexTest {

  private static final int SECONDS = 60;

  /** Returns a word in memory that counts down when it is freed. */
  private static MemorySegment word(CountDownLatch freed) {
    MemorySegment memory = Arena.global().allocate(Integer.BYTES, Integer.BYTES);
    return RawMemory.segment(
        memory.address(), Integer.BYTES, Arena.ofAuto(), gone -> freed.countDown());
  }

  /**
   * Thread.interrupt refers only to the futex when it wakes the thread. The thread may have
   * returned from its wait, and dropped the memory.
   */
  @Test
  void itsMemoryIsNotFreedWhileTheFutexIsReachable() throws Exception {
    CountDownLatch freed = new CountDownLatch(1);
    Futex futex = new Futex(word(freed));

    awaitCollection();
    assertThat(freed.getCount()).as("memory of a reachable futex").isEqualTo(1);
    futex.release();
    Reference.reachabilityFence(futex);

    futex = new Futex(word(new CountDownLatch(1)));
    for (int i = 0; i < SECONDS && !freed.await(1, TimeUnit.SECONDS); i++) {
      System.gc();
    }
    assertThat(freed.getCount()).as("memory of an unreachable futex").isZero();
    futex.release();
  }

  /** Waits until other memory is freed, which becomes unreachable here. */
  private static void awaitCollection() throws InterruptedException {
    for (int collection = 0; collection < 2; collection++) {
      CountDownLatch otherFreed = new CountDownLatch(1);
      assertThat(word(otherFreed).byteSize()).isEqualTo(Integer.BYTES);
      for (int i = 0; i < SECONDS && otherFreed.getCount() > 0; i++) {
        System.gc();
        boolean ignored = otherFreed.await(1, TimeUnit.SECONDS);
      }
      assertThat(otherFreed.getCount()).isZero();
    }
  }

  @Test
  void anInterruptEndsTheWait() throws Exception {
    MemorySegment word = word(new CountDownLatch(1));
    word.set(ValueLayout.JAVA_INT, 0, 3);
    Futex futex = new Futex(word);
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .start(() -> {
              while (!Thread.currentThread().isInterrupted()) {
                futex.await(3, Long.MAX_VALUE);
              }
            });

    thread.interrupt();

    assertThat(thread.join(Duration.ofSeconds(SECONDS))).isTrue();
  }
}
