// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests how schedules report a failure. */
class ScheduleTest {

  @Test
  void aSeedThatHasFailedFailsAgainWithoutBeingRepeated() {
    List<Long> seeds = new ArrayList<>();
    IllegalStateException fault = new IllegalStateException("a rare fault");

    AssertionError first =
        catchThrowableOfType(
            AssertionError.class,
            () ->
                Schedule.forEachSeedUntilOneFails(
                    "rare",
                    seed -> {
                      seeds.add(seed);
                      throw fault;
                    }));
    AssertionError second =
        catchThrowableOfType(
            AssertionError.class, () -> Schedule.forEachSeedUntilOneFails("rare", seeds::add));

    assertThat(seeds).hasSize(1);
    assertThat(first).hasMessage("-Dferrule.soak.seed=%d: a rare fault", seeds.getFirst());
    assertThat(first).hasCause(fault);
    assertThat(second).hasMessageEndingWith(first.getMessage()).hasCause(first);
  }

  @Test
  void aFailureOfOneTestDoesNotEndAnother() {
    List<Long> seeds = new ArrayList<>();
    catchThrowableOfType(
        AssertionError.class,
        () ->
            Schedule.forEachSeedUntilOneFails(
                "failing",
                seed -> {
                  throw new AssertionError("fault");
                }));

    Schedule.forEachSeedUntilOneFails("other", seeds::add);

    assertThat(seeds).isNotEmpty().doesNotHaveDuplicates();
  }

  @Test
  void furtherSeedsRunUntilCallsOfEachFunctionHaveFailed() {
    FailedCalls failed = new FailedCalls(Set.of("mmap", "open"));
    failed.add(new Answer(List.of("open:2"), null));
    List<Long> seeds = new ArrayList<>();

    Schedule.runUntilEachFunctionHasFailed(
        "seldom",
        failed,
        seed -> {
          seeds.add(seed);
          failed.add(new Answer(List.of("mmap:1", "read:1"), null));
        });

    assertThat(seeds).hasSize(1);
  }

  @Test
  void aFunctionOfWhichNoCallHasFailedIsAFailure() {
    FailedCalls failed = new FailedCalls(Set.of("mmap"));

    assertThatThrownBy(() -> Schedule.runUntilEachFunctionHasFailed("never", failed, seed -> {}))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("mmap=0");
  }
}
