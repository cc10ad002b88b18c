// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class EventPollTest {

  private static final int NOT_OPEN = -1;

  /** Connections are closed that way, which must release what follows. */
  @Test
  void shouldIgnoreAFailureToRemoveADescriptor() {
    try (EventPoll poll = new EventPoll()) {
      assertThatThrownBy(() -> poll.addReadable(NOT_OPEN, 1)).isInstanceOf(PosixException.class);
      assertThatCode(() -> poll.remove(NOT_OPEN)).doesNotThrowAnyException();
    }
  }
}
