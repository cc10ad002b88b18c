// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class MediansTest {

  @Test
  void theMedianIsTheMiddleOne() {
    assertThat(Medians.of(List.of(3.0, 1.0, 100.0))).hasValue(3);
    assertThat(Medians.of(List.of(4.0, 1.0, 100.0, 2.0))).hasValue(3);
    assertThat(Medians.of(List.of(7.0))).hasValue(7);
    assertThat(Medians.of(List.of())).isEmpty();
  }

  @Test
  void theMedianOfPeriodsIsFinerThanTheTicksOfTheClock() {
    long[] periods = new long[16 * 100];
    for (int i = 0; i < periods.length; i++) {
      periods[i] = i % 4 == 0 ? 110 : 100;
    }
    assertThat(Medians.ofPeriods(periods, periods.length)).isEqualTo(102.5);
  }

  @Test
  void aFewInterruptedPeriodsDoNotChangeTheMedian() {
    long[] periods = new long[16 * 100];
    Arrays.fill(periods, 100);
    for (int i = 0; i < 16 * 40; i += 16) {
      periods[i] = 10_000_000;
    }
    assertThat(Medians.ofPeriods(periods, periods.length)).isEqualTo(100);
  }

  @Test
  void fewerPeriodsThanAGroupAreAveraged() {
    assertThat(Medians.ofPeriods(new long[] {10, 20, 999}, 2)).isEqualTo(15);
  }

  @Test
  void aRatioIsMissingWhereEitherMedianIsOrNothingCanBeDividedBy() {
    OptionalDouble none = OptionalDouble.empty();
    OptionalDouble three = OptionalDouble.of(3);
    assertThat(Medians.ratio(three, OptionalDouble.of(2))).hasValue(1.5);
    assertThat(Medians.ratio(three, none)).isEmpty();
    assertThat(Medians.ratio(none, three)).isEmpty();
    assertThat(Medians.ratio(three, OptionalDouble.of(0))).isEmpty();
  }
}
