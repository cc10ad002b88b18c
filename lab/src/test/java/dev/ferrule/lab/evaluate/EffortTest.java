// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EffortTest {

  /** A receiver has 64 receives, and a server accepts at most 10 s of pauses. */
  @ParameterizedTest
  @CsvSource({"50, 640", "1000, 1000", "50000, 30000"})
  void aSlowReceiverGetsEnoughMessagesToBeOverrunAndNoMoreThanAServerAccepts(
      long messages, long expected) {
    Effort effort = new Effort(false, 1, OptionalLong.of(messages));
    assertThat(effort.overrunMessages()).isEqualTo(expected);
  }
}
