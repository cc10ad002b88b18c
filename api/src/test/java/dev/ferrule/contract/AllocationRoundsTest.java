// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What {@link AllocationContract} takes for a steady state without allocation. */
class AllocationRoundsTest {

  private int round;
  private byte @Nullable [] escaped;

  private void allocate() {
    escaped = new byte[4_096];
  }

  @Test
  void whatAllocatesInEveryOtherRoundIsFound() {
    Runnable everyOther =
        () -> {
          if (round++ % 2 == 0) {
            allocate();
          }
        };
    assertThatThrownBy(() -> AllocationContract.assertAllocatesNothing(everyOther))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("in a row have to be clean");
  }

  @Test
  void whatAllocatesUntilItIsCompiledIsNot() {
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
