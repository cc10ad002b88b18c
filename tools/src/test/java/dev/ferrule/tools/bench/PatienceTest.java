// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.tools.support.ToolException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class PatienceTest {

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aClientThatStopsSendingTimesOut() {
    Patience patience = new Patience(Duration.ofMillis(1));
    assertThatThrownBy(
            () -> {
              while (true) {
                patience.onEmptyPoll();
              }
            })
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("stopped sending");
  }

  @Test
  void aMessageResetsTheLimit() {
    Patience patience = new Patience(Duration.ZERO);
    for (int round = 0; round < 10; round++) {
      for (int i = 0; i < 100_000; i++) { // several checks, of which the first starts the limit
        patience.onEmptyPoll();
      }
      patience.onMessage();
    }
  }
}
