// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rounds of messages whose times the test chooses. */
class SlicesTest {

  private static final long LIMIT = 1_000_000_000;

  private final Slices slices = new Slices();
  private long nanos;
  private int readings;

  private void sendUntil(long limit, double nanosEach) {
    while (nanos < limit) {
      long count = slices.next(LIMIT - nanos);
      assertThat(count).isPositive();
      long taken = (long) Math.ceil(count * nanosEach);
      slices.add(count, taken);
      nanos += taken;
      readings++;
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.5, 20, 1_000, 300_000})
  void aRoundOfASteadyRateEndsInTimeWithFewReadingsOfTheClock(double nanosEach) {
    sendUntil(LIMIT, nanosEach);

    assertThat(nanos - LIMIT).isBetween(0L, (long) Math.max(10, nanosEach));
    assertThat(readings).isLessThan(10_100);
  }

  @ParameterizedTest
  @CsvSource({"20, 2000", "2000, 20", "1000, 100000", "100000, 1000", "200, 20000"})
  void aRoundEndsInTimeAlsoIfTheRateChanges(double before, double after) {
    sendUntil(LIMIT / 2, before);
    sendUntil(LIMIT, after);

    assertThat(nanos - LIMIT).isBetween(0L, (long) Math.max(10, after));
  }

  @ParameterizedTest
  @ValueSource(longs = {1_000_000, 100_000_000})
  void aRateThatFallsToAHundredthAtTheEndDelaysItByATenthOfASecond(long beforeTheEnd) {
    sendUntil(LIMIT - beforeTheEnd, 20);
    sendUntil(LIMIT, 2_000);

    assertThat(nanos - LIMIT).isBetween(0L, LIMIT / 10);
  }

  @ParameterizedTest
  @ValueSource(doubles = {100, 0.01})
  void aRateThatJumpsAllTheTimeExceedsTheRoundByAtMostATenth(double factor) {
    for (int i = 0; nanos < LIMIT; i++) {
      sendUntil(nanos + 1, i % 2 == 0 ? 1_000 : 1_000 * factor);
    }

    assertThat(nanos - LIMIT).isBetween(0L, LIMIT / 10);
  }

  @ParameterizedTest
  @ValueSource(longs = {50_000_000, 2_000_000_000})
  void aSliceThatWasDelayedLeavesTheOthersShort(long delay) {
    sendUntil(LIMIT / 10, 100);
    slices.add(10_000, delay);
    nanos += delay;
    sendUntil(LIMIT, 100);

    assertThat(nanos).isLessThanOrEqualTo(Math.max(LIMIT, LIMIT / 10 + 2 * delay));
  }
}
