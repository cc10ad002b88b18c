// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.context;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LastWqeTimeoutTest {

  private final LastWqeTimeout timeout = new LastWqeTimeout();

  @Test
  void shouldShortenTheTimeoutOfADeviceThatNeverReports() {
    for (int i = 0; i < LastWqeTimeout.ATTEMPTS; i++) {
      assertThat(timeout.nanos()).isEqualTo(LastWqeTimeout.LONG_NANOS);
      timeout.waited(false);
    }
    assertThat(timeout.nanos()).isEqualTo(LastWqeTimeout.SHORT_NANOS);
  }

  @Test
  void shouldKeepTheTimeoutOfADeviceThatHasReportedOnce() {
    for (int i = 0; i < 2 * LastWqeTimeout.ATTEMPTS; i++) {
      timeout.waited(i == 1);
    }
    assertThat(timeout.nanos()).isEqualTo(LastWqeTimeout.LONG_NANOS);
  }
}
