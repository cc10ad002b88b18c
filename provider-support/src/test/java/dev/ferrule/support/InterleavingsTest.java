// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jetbrains.lincheck.LincheckAssertionError;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that a fault is found if it occurs only when a thread runs between two accesses of another.
 */
@Tag("interleaving")
class InterleavingsTest {

  private static final class Counter {
    private int count;

    private Interleavings.Steps incrementing() {
      return new Interleavings.Steps() {
        @Override
        public void run() {
          count++;
        }
      };
    }
  }

  @Test
  void aLostUpdateIsFound() {
    assertThatThrownBy(() ->
            Interleavings.explore(() -> {
              Counter counter = new Counter();
              Interleavings.runAll(counter.incrementing(), counter.incrementing());
              Interleavings.check(counter.count == 2, "an update is lost");
            }))
        .isInstanceOf(LincheckAssertionError.class)
        .hasMessageContaining("an update is lost");
  }

  /** A thread that checks a condition, and then announces that it waits. */
  private static final class Sleeper {
    private final Permit permit = new Permit();
    private volatile boolean ready;
    private volatile boolean waiting;

    private Interleavings.Steps waiting() {
      return new Interleavings.Steps() {
        @Override
        public void run() {
          if (!ready) {
            waiting = true;
            permit.take();
          }
        }
      };
    }

    private Interleavings.Steps waking() {
      return new Interleavings.Steps() {
        @Override
        public void run() {
          ready = true;
          if (waiting) {
            permit.give();
          }
        }
      };
    }
  }

  @Test
  void aLostWakeUpIsFound() {
    assertThatThrownBy(() ->
            Interleavings.explore(() -> {
              Sleeper sleeper = new Sleeper();
              Interleavings.runAll(sleeper.waiting(), sleeper.waking());
            }))
        .isInstanceOf(LincheckAssertionError.class)
        .hasMessageContaining("hung");
  }

  private static final class Failing extends Interleavings.Steps {
    @Override
    public void run() {
      throw new IllegalStateException("of a thread");
    }
  }

  @Test
  void anExceptionOfAnyThreadIsFound() {
    assertThatThrownBy(() ->
            Interleavings.explore(
                () -> Interleavings.runAll(new Counter().incrementing(), new Failing())))
        .isInstanceOf(LincheckAssertionError.class)
        .hasMessageContaining("of a thread");
  }
}
