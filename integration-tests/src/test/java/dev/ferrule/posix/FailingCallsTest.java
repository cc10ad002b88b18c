// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FailingCallsTest {

  @Test
  void shouldCountTheCallsThatFail() {
    FailingCalls.takeCounts();
    FailingCalls.begin(1, 100, Set.of("eventfd"));
    try {
      assertThatThrownBy(Posix::eventfd).isInstanceOf(PosixException.class);
      Posix.close(Posix.epollCreate());
    } finally {
      FailingCalls.end();
    }
    assertThat(FailingCalls.takeCounts()).isEqualTo(Map.of("eventfd", 1));
    assertThat(FailingCalls.takeCounts()).isEmpty();
  }

  @Test
  void shouldRejectAFunctionOfWhichNoCallFails() {
    assertThatThrownBy(() -> FailingCalls.begin(1, 100, Set.of("eventfb")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("eventfb");
  }
}
