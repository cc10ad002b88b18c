// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class GuardedTest {

  @Test
  void aResourceIsClosedOnce() {
    AtomicInteger closed = new AtomicInteger();
    Guarded<AutoCloseable> guarded = Guarded.of(closed::incrementAndGet);
    guarded.close();
    guarded.close();
    assertThat(closed).hasValue(1);
  }

  @Test
  void aResourceThatWasReleasedIsNotClosed() {
    AtomicInteger closed = new AtomicInteger();
    Guarded<AutoCloseable> guarded = Guarded.of(closed::incrementAndGet);
    guarded.release();
    guarded.close();
    assertThat(closed).hasValue(0);
  }

  @Test
  void aFailureToCloseIsReported() {
    Guarded<AutoCloseable> guarded =
        Guarded.of(() -> {
          throw new IOException("disk on fire");
        });
    assertThatThrownBy(guarded::close).isInstanceOf(ToolException.class).hasMessage("disk on fire");
  }
}
