// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests which allocations {@link AllocationContract} tolerates. */
class AllocationRoundsTest {

  private int round;
  private byte @Nullable [] escaped;

  private void allocate() {
    escaped = new byte[4_096];
  }

  @Test
  void allocationInEveryOtherRoundIsDetected() {
    Runnable everyOther =
        () -> {
          if (round++ % 2 == 0) {
            allocate();
          }
        };
    assertThatThrownBy(() -> AllocationContract.assertAllocatesNothing(everyOther, Duration.ZERO))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("in a row have to be clean");
  }

  @Test
  void allocationBeforeCompilationIsTolerated() {
    Runnable firstOnes =
        () -> {
          if (round++ < 5) {
            allocate();
          }
        };
    assertThatCode(() -> AllocationContract.assertAllocatesNothing(firstOnes))
        .doesNotThrowAnyException();
  }
}
