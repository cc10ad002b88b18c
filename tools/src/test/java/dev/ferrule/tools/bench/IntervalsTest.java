// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The division of rounds into intervals, with a clock that only the measured work advances. */
class IntervalsTest {

  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000_000_000;

  private final List<Interval> reported = new ArrayList<>();
  private final List<Interval> sums = new ArrayList<>();
  private final List<Long> parts = new ArrayList<>();
  private long now = 5 * SECOND;

  private final Observer everySecond =
      new Observer() {
        @Override
        public void progress(String stage, Supplier<List<Result>> soFar) {
          // not tested here
        }

        @Override
        public long intervalNanos() {
          return SECOND;
        }

        @Override
        public void interval(Interval interval) {
          reported.add(interval);
        }

        @Override
        public void sum(Interval sum) {
          sums.add(sum);
        }
      };

  private final Intervals intervals = new Intervals(everySecond, 64, null, 2, () -> now);

  /** Measures messages of the given time each. */
  private long work(long count, long nanosEach) {
    parts.add(count);
    for (long i = 0; i < count; i++) {
      intervals.record(nanosEach);
    }
    now += count * nanosEach;
    return count * nanosEach;
  }

  @Test
  void anIntervalEndsAtMostATwentiethLate() {
    intervals.begin();
    assertThat(intervals.round(3700, count -> work(count, MILLI))).isEqualTo(3700 * MILLI);
    intervals.end();

    assertThat(reported).hasSize(4).isEqualTo(intervals.ended());
    for (int i = 0; i < 3; i++) {
      assertThat(reported.get(i).endSeconds()).isBetween(i + 1.0, i + 1.05);
      assertThat(reported.get(i + 1).startSeconds()).isEqualTo(reported.get(i).endSeconds());
    }
    assertThat(reported.getLast().endSeconds()).isEqualTo(3.7, within(1e-9));
    assertThat(reported.stream().mapToLong(Interval::messages).sum()).isEqualTo(3700);
    assertThat(reported)
        .allSatisfy(interval -> {
          assertThat(interval.messagesPerSecond()).isEqualTo(1000, within(1e-6));
          assertThat(interval.latency().p50()).isBetween(0.499 * MILLI, 0.501 * MILLI);
        });
    assertThat(sums).hasSize(1);
    assertThat(sums.getFirst().startSeconds()).isZero();
    assertThat(sums.getFirst().messages()).isEqualTo(3700);
    assertThat(sums.getFirst().latency().max()).isBetween(0.499 * MILLI, 0.501 * MILLI);
  }

  @Test
  void thePartsAreAdaptedToTheTimeOfAMessage() {
    intervals.begin();
    intervals.round(10_000_000, count -> work(count, 1000));
    assertThat(parts).startsWith(16L, 32L, 64L).contains(50_000L);
    assertThat(parts.stream().mapToLong(Long::longValue).max()).hasValue(50_000);

    parts.clear();
    intervals.round(8, count -> work(count, TimeUnit.SECONDS.toNanos(2)));
    assertThat(parts).containsExactly(8L);
    intervals.round(3, count -> work(count, TimeUnit.SECONDS.toNanos(2)));
    assertThat(parts).containsExactly(8L, 1L, 1L, 1L);
  }

  @Test
  void thePausesBetweenRoundsAreInTheIntervalButNotInTheRate() {
    intervals.begin();
    for (int round = 0; round < 4; round++) {
      now += 100 * MILLI; // the floor
      intervals.round(100, count -> work(count, MILLI));
    }
    intervals.end();

    assertThat(reported).hasSize(1);
    assertThat(reported.getFirst().endSeconds()).isEqualTo(0.8, within(1e-9));
    assertThat(reported.getFirst().messages()).isEqualTo(400);
    assertThat(reported.getFirst().messagesPerSecond()).isEqualTo(1000, within(1e-6));
  }

  @Test
  void aPartThatIsDelayedIsOneLongInterval() {
    intervals.begin();
    intervals.round(16, count -> work(count, SECOND / 4)); // 4 s
    intervals.round(1, count -> work(count, SECOND / 2));
    intervals.round(1, count -> work(count, SECOND / 2));
    intervals.end();

    assertThat(reported).extracting(Interval::endSeconds).containsExactly(4.0, 5.0);
    assertThat(reported).extracting(Interval::messages).containsExactly(16L, 2L);
  }

  @Test
  void theMessagesOfAllConnectionsCount() {
    Intervals ofRate = new Intervals(everySecond, 64, null, 1, () -> now);
    ofRate.begin();
    ofRate.round(
        10,
        count -> {
          now += count * MILLI;
          return count * MILLI;
        },
        3);
    ofRate.end();

    assertThat(reported).hasSize(1);
    assertThat(reported.getFirst().messages()).isEqualTo(30);
    assertThat(reported.getFirst().messagesPerSecond()).isEqualTo(3000, within(1e-6));
    assertThat(reported.getFirst().latency()).isNull();
    assertThat(reported.getFirst().bytesPerSecond()).isEqualTo(3000 * 64, within(1e-3));
  }

  @Test
  void withoutIntervalsARoundIsUndivided() {
    Intervals.NONE.begin();
    assertThat(Intervals.NONE.round(1000, count -> work(count, MILLI))).isEqualTo(1000 * MILLI);
    Intervals.NONE.end();

    assertThat(parts).containsExactly(1000L);
    assertThat(Intervals.NONE.ended()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 10_000, MILLI, 50 * MILLI})
  void aDurationIsMeasuredInPartsOfATwentiethUntilItHasElapsed(long nanosEach) {
    intervals.begin();
    Measured measured = intervals.until(3 * SECOND, limit -> workUntil(limit, nanosEach));
    intervals.end();

    assertThat(measured.spentNanos()).isEqualTo(3 * SECOND);
    assertThat(parts).hasSize(60);
    assertThat(reported).extracting(Interval::endSeconds).containsExactly(1.0, 2.0, 3.0);
    assertThat(reported.stream().mapToLong(Interval::messages).sum())
        .isEqualTo(measured.messages())
        .isEqualTo(3 * SECOND / nanosEach);
  }

  @Test
  void workThatEndsEarlyIsRepeatedUntilTheDurationHasElapsed() {
    Measured measured =
        Intervals.NONE.until(SECOND, limit -> workUntil(Math.min(limit, 300 * MILLI), MILLI));

    assertThat(parts).containsExactly(300L, 300L, 300L, 100L);
    assertThat(measured).isEqualTo(new Measured(1000, SECOND, SECOND));
  }

  private Measured workUntil(long limitNanos, long nanosEach) {
    long count = Math.ceilDiv(limitNanos, nanosEach);
    parts.add(count);
    now += count * nanosEach;
    return new Measured(count, count * nanosEach);
  }

  @Test
  void theTableHasPercentilesOrBytes() {
    LatencySummary times = new LatencySummary(45, 50.5, 60, 90.25, Double.NaN, 1234, 61, 51, 10);
    Interval latency = new Interval(64, null, 1, 2.015, 1_500_000, 1.5e6, times);
    assertThat(IntervalTable.heading(latency) + IntervalTable.line(latency))
        .isEqualTo(
            """
                 interval s     bytes   messages      rate/s    min ns      p50      p90      p99    p99.9       max
                  1.00-2.02        64    1500000      1.50 M      45.0     50.5     60.0     90.3        -      1234
            """);
    Interval rate = new Interval(1 << 20, null, 0, 10, 50_000, 5e3, null);
    assertThat(IntervalTable.heading(rate) + IntervalTable.sum(rate))
        .isEqualTo(
            """
                 interval s     bytes   messages      rate/s     bytes/s
                 0.00-10.00   1048576      50000      5.00 k      5.24 G  sum
            """);
    Interval access = new Interval(4096, "write", 0, 1, 1000, 1e6, times);
    assertThat(IntervalTable.heading(access)).startsWith("  rma ").contains("accesses");
    assertThat(IntervalTable.line(access)).startsWith("write ");
  }
}
