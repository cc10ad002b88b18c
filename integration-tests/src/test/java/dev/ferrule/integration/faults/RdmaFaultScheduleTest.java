// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.magicring.MagicRingProvider;
import dev.ferrule.sendrecv.SendRecvProvider;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.verbs.VerbsLibrary;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Schedules of two programs on a simulated device; see {@link Schedule} for how one is repeated.
 */
@Tag("long")
@Timeout(value = 20, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RdmaFaultScheduleTest {

  private static final List<Environment.Variant> SENDRECV =
      List.of(
          new Environment.Variant("?maxMessage=2KiB&receives=8&peerTimeout=3s", 2000, 6),
          new Environment.Variant(
              "?maxMessage=4KiB&receives=32&wait=block&peerTimeout=3s", 4096, 12),
          new Environment.Variant("?maxMessage=64KiB&wait=block&peerTimeout=3s", 65_536, 6));

  private static final List<Environment.Variant> MAGICRING =
      List.of(
          new Environment.Variant("?maxMessage=2KiB&ring=16KiB&peerTimeout=3s", 2000, 4),
          new Environment.Variant(
              "?maxMessage=2KiB&ring=16KiB&mapping=plain&peerTimeout=3s", 2000, 4),
          new Environment.Variant("?maxMessage=4KiB&wait=block&peerTimeout=3s", 4096, 6),
          new Environment.Variant(
              "?maxMessage=64KiB&ring=512KiB&wait=block&peerTimeout=3s", 65_536, 4),
          new Environment.Variant("?maxMessage=2KiB&window=1&peerTimeout=3s", 2000, 1),
          new Environment.Variant(
              "?maxMessage=2KiB&window=4&acknowledge=each&wait=block&peerTimeout=3s", 2000, 4),
          new Environment.Variant(
              "?maxMessage=2KiB&window=8&acknowledge=each&peerTimeout=3s", 2000, 8));

  @Test
  void twoProgramsOverSendRecvSeeWhatTheModelAllows() {
    run("sendrecv", SendRecvProvider::new, ConnectionOptions.defaults(), SENDRECV);
  }

  @Test
  void twoProgramsOverMagicRingSeeWhatTheModelAllows() {
    ConnectionOptions each = ConnectionOptions.builder().set("acknowledge", "each").build();
    run("magicring", MagicRingProvider::new, each, MAGICRING);
  }

  private static void run(
      String name,
      Function<VerbsLibrary, ConnectionProvider> provider,
      ConnectionOptions listening,
      List<Environment.Variant> variants) {
    FailedCalls failed = new FailedCalls(Set.copyOf(RdmaEnvironment.CREATING));
    Schedule.forEachSeed(
        name,
        failed,
        seed -> {
          try (Environment environment =
              new RdmaEnvironment(
                  provider,
                  seed % 2 == 0 ? listening : ConnectionOptions.defaults(),
                  variants,
                  seed)) {
            new Schedule(environment, failed, seed).run();
          }
        });
  }
}
