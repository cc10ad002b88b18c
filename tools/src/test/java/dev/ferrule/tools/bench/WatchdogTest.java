// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ferrule.Connection;
import dev.ferrule.Sender;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.support.ToolException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WatchdogTest {

  private static final Duration LITTLE = Duration.ofMillis(40);
  private static final Duration MUCH = Duration.ofHours(1);

  private final CountDownLatch closed = new CountDownLatch(1);
  private final BenchClient client;

  WatchdogTest() {
    Connection connection = mock(Connection.class);
    when(connection.sender()).thenReturn(mock(Sender.class));
    doAnswer(
            invocation -> {
              closed.countDown();
              return null;
            })
        .when(connection)
        .close(any(Duration.class));
    client = new BenchClient(connection, WaitStrategy.BLOCK);
  }

  private String await(CountDownLatch latch) {
    try {
      latch.await();
      return "done";
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted", e);
    }
  }

  @Test
  void aMeasurementWithoutProgressHasItsConnectionsClosedAndFails() {
    Watchdog watchdog = new Watchdog(LITTLE, MUCH, System::nanoTime);
    assertThatThrownBy(() ->
            watchdog.watch(
                List.of(client),
                () -> {
                  await(closed); // as a receive does until the connection is closed
                  throw new IllegalStateException("closed");
                }))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("no progress for ")
        .hasRootCauseMessage("closed");
  }

  @Test
  void aThreadThatDoesNotNoticeIsInterruptedAndTheCallerContinues() {
    Watchdog watchdog = new Watchdog(LITTLE, LITTLE, System::nanoTime);
    assertThatThrownBy(() -> watchdog.watch(List.of(client), () -> await(new CountDownLatch(1))))
        .isInstanceOf(ToolException.class);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  /** A clock that changes only when the measurement advances it, and counts its readings. */
  private static final class ManualClock implements LongSupplier {
    private final AtomicLong nanos = new AtomicLong();
    private final AtomicLong looks = new AtomicLong();

    @Override
    public long getAsLong() {
      looks.incrementAndGet();
      return nanos.get();
    }

    /** Advances, and waits until the watchdog has read the clock several times. */
    void advance(Duration duration) {
      nanos.addAndGet(duration.toNanos());
      long enough = looks.get() + 4;
      while (looks.get() < enough) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void aMeasurementWithProgressIsNotInterrupted() {
    ManualClock clock = new ManualClock();
    String result =
        new Watchdog(LITTLE, MUCH, clock)
            .watch(
                List.of(client),
                () -> {
                  for (int i = 0; i < 5; i++) {
                    client.start(Round.of(Round.Kind.ECHO, 0, 0));
                    clock.advance(LITTLE.multipliedBy(2).dividedBy(3));
                  }
                  return "done";
                });
    assertThat(result).isEqualTo("done");
    assertThat(closed.getCount()).isOne();
  }

  @Test
  void aRoundOfManyMessagesMayTakeLonger() {
    ManualClock clock = new ManualClock();
    client.start(Round.of(Round.Kind.SINK, Long.MAX_VALUE, 1 << 30));
    String result =
        new Watchdog(LITTLE, MUCH, clock)
            .watch(
                List.of(client),
                () -> {
                  clock.advance(MUCH);
                  return "done";
                });
    assertThat(result).isEqualTo("done");
    assertThat(closed.getCount()).isOne();
  }

  @Test
  void aFailureOfTheMeasurementItselfIsReported() {
    assertThatThrownBy(() ->
            new Watchdog(MUCH)
                .watch(
                    List.of(client),
                    () -> {
                      throw new IllegalStateException("of its own");
                    }))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("of its own");
  }
}
