// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class LatencySummaryTest {

  private final Histogram histogram = LatencySummary.newHistogram();

  private LatencySummary summary() {
    return LatencySummary.of(histogram, 1);
  }

  /** 34 ns on a clock with a tick of 10 ns: four of ten times are measured as 40 ns. */
  @Test
  void theMeanOfTheMiddleHalfIsMorePreciseThanTheTickOfTheClock() {
    histogram.recordValueWithCount(30, 600);
    histogram.recordValueWithCount(40, 400);
    histogram.recordValueWithCount(5000, 1); // preempted
    assertThat(summary().p50()).isEqualTo(30);
    assertThat(summary().midMean()).isCloseTo(33, within(0.1));
    assertThat(summary().step()).isEqualTo(10);
  }

  @Test
  void theMiddleHalfExcludesAQuarterAtEachEnd() {
    for (int value = 1; value <= 100; value++) {
      histogram.recordValue(value);
    }
    assertThat(summary().midMean()).isCloseTo(50.5, within(1e-9));
  }

  /** Rounding in the clock makes some ticks longer by 1 ns. */
  @Test
  void rareTimesDoNotMakeTheStepSmaller() {
    histogram.recordValueWithCount(70, 500);
    histogram.recordValueWithCount(71, 5);
    histogram.recordValueWithCount(80, 500);
    assertThat(summary().step()).isEqualTo(10);
  }

  /** The 99.9th percentile of 100 times would be the maximum. */
  @Test
  void aPercentileOfTooFewTimesIsNaN() {
    for (int value = 1; value <= 99; value++) {
      histogram.recordValue(value);
    }
    assertThat(summary().p90()).isEqualTo(90);
    assertThat(summary().p99()).isNaN();
    histogram.recordValue(100);
    assertThat(summary().p99()).isEqualTo(99);
    assertThat(summary().p999()).isNaN();
    for (int value = 101; value <= 1000; value++) {
      histogram.recordValue(value);
    }
    assertThat(summary().p999()).isEqualTo(999);
  }

  @Test
  void aSingleTimeHasNoStep() {
    histogram.recordValueWithCount(70, 500);
    assertThat(summary().step()).isZero();
    assertThat(summary().midMean()).isEqualTo(70);
  }
}
