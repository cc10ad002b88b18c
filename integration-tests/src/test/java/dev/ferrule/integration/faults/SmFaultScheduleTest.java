// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import dev.ferrule.posix.FailingCalls;
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
    FailedCalls failed = new FailedCalls(FailingCalls.functions());
    try (Environment environment = new SmEnvironment()) {
      Schedule.forEachSeed("sm", failed, seed -> new Schedule(environment, failed, seed).run());
    }
  }
}
