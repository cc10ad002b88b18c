// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.context;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LastWqeTimeoutTest {

  private final LastWqeTimeout patience = new LastWqeTimeout();

  @Test
  void shouldShortenTheTimeoutOfADeviceThatNeverReports() {
    for (int i = 0; i < LastWqeTimeout.ATTEMPTS; i++) {
      assertThat(patience.nanos()).isEqualTo(LastWqeTimeout.LONG_NANOS);
      patience.waited(false);
    }
    assertThat(patience.nanos()).isEqualTo(LastWqeTimeout.SHORT_NANOS);
  }

  @Test
  void shouldKeepTheTimeoutOfADeviceThatHasReportedOnce() {
    for (int i = 0; i < 2 * LastWqeTimeout.ATTEMPTS; i++) {
      patience.waited(i == 1);
    }
    assertThat(patience.nanos()).isEqualTo(LastWqeTimeout.LONG_NANOS);
  }
}
