// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LastRequestPatienceTest {

  private final LastRequestPatience patience = new LastRequestPatience();

  @Test
  void shouldGiveUpADeviceThatNeverTells() {
    for (int i = 0; i < LastRequestPatience.CHANCES; i++) {
      assertThat(patience.nanos()).isEqualTo(LastRequestPatience.LONG_NANOS);
      patience.waited(false);
    }
    assertThat(patience.nanos()).isEqualTo(LastRequestPatience.SHORT_NANOS);
  }

  @Test
  void shouldGoOnWaitingForADeviceThatHasToldOnce() {
    for (int i = 0; i < 2 * LastRequestPatience.CHANCES; i++) {
      patience.waited(i == 1);
    }
    assertThat(patience.nanos()).isEqualTo(LastRequestPatience.LONG_NANOS);
  }
}
