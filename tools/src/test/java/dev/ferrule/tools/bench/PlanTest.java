// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.StandardOptions;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PlanTest {

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 15, 16, 17, 1000, 123_457})
  void aWarmUpSendsExactlyTheGivenNumberOfMessages(long messages) {
    AtomicLong sent = new AtomicLong();
    Plan plan = new Plan(List.of(8), OptionalLong.empty(), OptionalLong.of(messages), 1);
    plan.warmUp(true, sent::addAndGet);
    assertThat(sent).hasValue(messages);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aWarmUpWithoutANumberTakesItsTimeAndReturnsTheTimeOfAMessage(boolean first) {
    AtomicLong sent = new AtomicLong();
    Plan plan = new Plan(List.of(8), OptionalLong.empty(), OptionalLong.empty(), 1);
    double nanos = plan.warmUp(first, count -> sent.addAndGet(slow(count)));
    assertThat(sent.get()).isPositive();
    assertThat(nanos).isPositive();
  }

  @ParameterizedTest
  @CsvSource({"10ms, 5, 5", "1s, 5, 5", "5s, 5, 5", "20s, 5, 20", "1500ms, 1, 2", "24h, 5, 86400"})
  void aPlanForADurationHasRoundsOfAtMostASecond(String text, int rounds, int expected) {
    Duration duration = StandardOptions.CLOSE_TIMEOUT.parse(text);
    Plan plan = Plan.lasting(List.of(8), duration, OptionalLong.empty(), rounds);

    assertThat(plan.rounds()).isEqualTo(expected);
    assertThat(plan.messages()).isEmpty();
    assertThat(plan.roundNanos(0, 0)).isBetween(1L, 1_000_000_000L);
    assertThat(plan.pace().bandwidthNanos()).isLessThanOrEqualTo(duration.toNanos() / expected);
  }

  @Test
  void aRoundThatIsLeftLittleTimeHasNoRateExceptTheFirst() {
    Plan plan = Plan.lasting(List.of(8), Duration.ofSeconds(4), OptionalLong.empty(), 4);

    assertThat(plan.hasRate(1, 1_000_000_000)).isTrue();
    assertThat(plan.hasRate(1, 500_000_000)).isTrue();
    assertThat(plan.hasRate(1, 499_999_999)).isFalse();
    assertThat(plan.hasRate(0, 1)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"10ms, 7", "10s, 3", "100s, 5", "24h, 1"})
  void theRoundsOfADurationAddUpToItAlsoIfSomeTakeTooLong(String text, int rounds) {
    Duration duration = StandardOptions.CLOSE_TIMEOUT.parse(text);
    Plan plan = Plan.lasting(List.of(8), duration, OptionalLong.empty(), rounds);
    long round = plan.roundNanos(0, 0);
    long spent = 0;
    for (int i = 0; i < plan.rounds(); i++) {
      long limit = plan.roundNanos(i, spent);
      if (limit > 0) {
        spent += i == 1 ? limit + 3 * round : limit;
      }
    }
    assertThat(spent).isBetween(duration.toNanos(), duration.toNanos() + 3 * round);
    if (plan.rounds() > 5) { // the rounds after a long one are omitted
      assertThat(spent).isEqualTo(duration.toNanos());
    }
  }

  @Test
  void aPlanWithoutADurationIsNotEndedByTheClock() {
    assertThat(new Plan(List.of(8), OptionalLong.empty(), OptionalLong.empty(), 20).isTimed())
        .isFalse();
  }

  private static int slow(int count) {
    long end = System.nanoTime() + count * 1_000L;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
    return count;
  }
}
