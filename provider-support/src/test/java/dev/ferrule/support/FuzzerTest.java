// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FuzzerTest {

  private static final List<byte[]> SAMPLES = List.of(new byte[] {1, 2, 3, 4});
  private static final long FIRST = Long.getLong("ferrule.fuzz.seed", 1);

  /** An input that allocates more is read again, as the cause may be a class that is loaded. */
  private static final long ENOUGH = 1L << 40;

  /** Ends a loop whose test has failed in time, as the JVM runs other tests. */
  private volatile boolean isOver;

  @AfterEach
  void endLoops() {
    isOver = true;
  }

  private static String repetition(long seed) {
    return "; repeat this input by -Dferrule.fuzz.seed=" + seed + " -Dferrule.fuzz.inputs=1";
  }

  private boolean loop() {
    while (!isOver) {
      Thread.onSpinWait();
    }
    return true;
  }

  @Test
  void aLoopIsAFailureThatNamesTheInputItsSeedAndTheStack() {
    assertThatThrownBy(() ->
            new Fuzzer("a loop", 5)
                .answersIn(Duration.ofSeconds(1))
                .bytes(SAMPLES, bytes -> loop()))
        .isInstanceOf(AssertionError.class)
        .hasMessageStartingWith("a loop: no answer within 1000 ms, for ")
        .hasMessageContaining(" bytes ")
        .hasMessageEndingWith(repetition(FIRST))
        .cause()
        .satisfies(stack ->
            assertThat(stack.getStackTrace())
                .anyMatch(frame ->
                    frame.getClassName().equals(FuzzerTest.class.getName())
                        && frame.getMethodName().equals("loop")));
  }

  /** It takes no processor time, and ignores interrupts. */
  @Test
  void aWaitWithoutEndIsAFailure() {
    assertThatThrownBy(() ->
            new Fuzzer("a wait", 5)
                .answersIn(Duration.ofMillis(100))
                .bytes(
                    SAMPLES,
                    bytes -> {
                      while (!isOver) {
                        LockSupport.parkNanos(1_000_000);
                      }
                      return true;
                    }))
        .isInstanceOf(AssertionError.class)
        .hasMessageStartingWith("a wait: no answer within 100 ms, for ")
        .hasMessageEndingWith(repetition(FIRST));
  }

  /** The failure shows the input as it was, although the code has changed it. */
  @Test
  void anExceptionThatIsNotPermittedIsAFailure() {
    AtomicLong count = new AtomicLong();
    String[] refused = new String[1];
    long last = Math.min(2, Integer.getInteger("ferrule.fuzz.inputs", 5) - 1);
    assertThatThrownBy(() ->
            new Fuzzer("an exception", 5)
                .permits(IllegalArgumentException.class)
                .allocates(ENOUGH)
                .bytes(
                    SAMPLES,
                    bytes -> {
                      if (count.getAndIncrement() < last) {
                        throw new IllegalArgumentException("permitted");
                      }
                      refused[0] = HexFormat.of().formatHex(bytes);
                      Arrays.fill(bytes, (byte) 0x55);
                      throw new IllegalStateException("not permitted");
                    }))
        .isInstanceOf(AssertionError.class)
        .hasMessageStartingWith(
            "an exception: java.lang.IllegalStateException: not permitted, for ")
        .hasMessageEndingWith(" bytes " + refused[0] + repetition(FIRST + last))
        .hasCauseInstanceOf(IllegalStateException.class);
  }

  @Test
  void noFurtherInputIsReadAfterAFailure() throws Exception {
    AtomicLong count = new AtomicLong();
    CountDownLatch isLate = new CountDownLatch(1);
    AtomicReference<Thread> thread = new AtomicReference<>();
    assertThatThrownBy(() ->
            new Fuzzer("a delay", 5)
                .answersIn(Duration.ofSeconds(5)) // longer than it takes to begin
                .allocates(ENOUGH)
                .bytes(
                    SAMPLES,
                    bytes -> {
                      count.incrementAndGet();
                      thread.set(Thread.currentThread());
                      isLate.await();
                      return true;
                    }))
        .isInstanceOf(AssertionError.class);
    isLate.countDown();
    thread.get().join();
    assertThat(count).hasValue(1);
  }
}
