// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import dev.ferrule.magicring.MagicRingProvider;
import dev.ferrule.sendrecv.SendRecvProvider;
import java.util.List;
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

  private static final List<Environment.Variant> SENDRECV =
      List.of(
          new Environment.Variant("?maxMessage=2KiB&receives=8&peerTimeout=1s", 2000, 6),
          new Environment.Variant(
              "?maxMessage=4KiB&receives=32&wait=block&peerTimeout=1s", 4096, 12),
          new Environment.Variant("?maxMessage=64KiB&wait=block&peerTimeout=1s", 65_536, 6));

  private static final List<Environment.Variant> MAGICRING =
      List.of(
          new Environment.Variant("?maxMessage=2KiB&ring=16KiB&peerTimeout=1s", 2000, 4),
          new Environment.Variant("?maxMessage=4KiB&wait=block&peerTimeout=1s", 4096, 6),
          new Environment.Variant(
              "?maxMessage=64KiB&ring=512KiB&wait=block&peerTimeout=1s", 65_536, 4));

  @Test
  void twoProcessesOverSmSeeWhatTheModelAllows() throws Exception {
    try (Environment environment = new SmEnvironment()) {
      for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
        run(environment, seed);
      }
    }
  }

  @Test
  void twoProgramsOverSendRecvSeeWhatTheModelAllows() {
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      try (Environment environment = new RdmaEnvironment(SendRecvProvider::new, SENDRECV, seed)) {
        run(environment, seed);
      }
    }
  }

  @Test
  void twoProgramsOverMagicRingSeeWhatTheModelAllows() {
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      try (Environment environment = new RdmaEnvironment(MagicRingProvider::new, MAGICRING, seed)) {
        run(environment, seed);
      }
    }
  }

  private static void run(Environment environment, long seed) {
    try {
      new Schedule(environment, seed).run(STEPS);
    } catch (AssertionError e) {
      throw new AssertionError(
          "seed " + seed + " (-Dferrule.soak.seed=" + seed + "): " + e.getMessage(), e);
    }
  }
}
