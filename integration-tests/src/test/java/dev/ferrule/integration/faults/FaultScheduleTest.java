// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Schedules drawn from seeds. {@code -Dferrule.soak.seeds=N} runs N of them, from seed {@code
 * -Dferrule.soak.seed} on, by which a failed one is repeated.
 */
@Tag("long")
@Timeout(value = 20, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FaultScheduleTest {

  private static final int SEEDS = Integer.getInteger("ferrule.soak.seeds", 200);
  private static final long FIRST = Long.getLong("ferrule.soak.seed", 1);
  private static final int STEPS = 60;

  @Test
  void twoProcessesSeeWhatTheModelAllows() throws Exception {
    try (World world = new SmWorld()) {
      run(world);
    }
  }

  private static void run(World world) {
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      try {
        new Schedule(world, seed).run(STEPS);
      } catch (AssertionError e) {
        throw new AssertionError(
            "seed " + seed + " (-Dferrule.soak.seed=" + seed + "): " + e.getMessage(), e);
      }
    }
  }
}
