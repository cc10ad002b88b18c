// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Schedules of two processes; see {@link Schedule} for how one is repeated. */
@Tag("long")
@Timeout(value = 20, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SmFaultScheduleTest {

  @Test
  void twoProcessesOverSmSeeWhatTheModelAllows() throws Exception {
    try (Environment environment = new SmEnvironment()) {
      Schedule.forEachSeed("sm", seed -> new Schedule(environment, seed).run());
    }
  }
}
