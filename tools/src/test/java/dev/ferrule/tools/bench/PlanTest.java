// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
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

  private static int slow(int count) {
    long end = System.nanoTime() + count * 1_000L;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
    return count;
  }
}
