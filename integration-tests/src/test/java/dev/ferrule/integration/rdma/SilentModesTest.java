// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.contract.SilentProgramContract;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs that send nothing, in the modes that have no contract tests of their own. */
@RdmaTest
@Tag("whole")
@Timeout(value = 900, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SilentModesTest {

  private static final int WINDOW = 64;
  private static final int SENT_BEFORE = 400;
  private static final String SIMPLEX =
      "magicring?ring=140KiB&window=" + WINDOW + "&simplex=on&acknowledge=";

  @Nested
  class WithoutCredits extends SilentProgramContract {
    WithoutCredits() {
      super(RdmaUnderTest.sendRecv("credits", "off"));
    }
  }

  @Nested
  class WithoutHello extends SilentProgramContract {
    WithoutHello() {
      super(RdmaUnderTest.sendRecv("credits", "off", "hello", "off"));
    }
  }

  @Nested
  class OneByOne extends SilentProgramContract {
    OneByOne() {
      super(RdmaUnderTest.sendRecv("repostBatch", "1", "pollBatch", "1", "inline", "0"));
    }
  }

  @Nested
  class AcknowledgedEach extends SilentProgramContract {
    AcknowledgedEach() {
      super(RdmaUnderTest.magicRing("acknowledge", "each"));
    }
  }

  @Nested
  class AcknowledgedEachInPlainRing extends SilentProgramContract {
    AcknowledgedEachInPlainRing() {
      super(RdmaUnderTest.magicRing("acknowledge", "each", "mapping", "plain"));
    }
  }

  /** In a simplex connection one side only sends, and the other only receives. */
  @ParameterizedTest
  @ValueSource(strings = {"batched", "each"})
  void aSimplexClientThatOnlyClaimsNeverWaitsForever(String acknowledge) {
    try (Wires.Pair pair = Wires.pair(SIMPLEX + acknowledge)) {
      Sender sender = pair.client().sender();
      Task<Void> receiving = receive(pair.server(), SENT_BEFORE);
      for (int i = 0; i < SENT_BEFORE; i++) {
        Numbered.send(sender, i);
      }
      receiving.result();
      for (long start = System.nanoTime(), n = 0; isDue(start, n); n++) {
        List<SendRegion> regions = new ArrayList<>();
        while (regions.size() < WINDOW) {
          regions.add(sender.claim(8, Task.PATIENCE));
        }
        regions.forEach(SendRegion::abort);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"batched", "each"})
  void aSimplexServerNeverWaitsForever(String acknowledge) {
    try (Wires.Pair pair = Wires.pair(SIMPLEX + acknowledge)) {
      Task<Void> sending =
          Task.start(() -> {
            for (int i = 0; ; i++) {
              Numbered.send(pair.client().sender(), i);
            }
          });
      for (long start = System.nanoTime(), n = 0; isDue(start, n); n++) {
        receive(pair.server(), 100).result();
      }
      pair.server().close();
      assertThat(sending.failure()).isInstanceOf(ConnectionClosedException.class);
    }
  }

  private static boolean isDue(long start, long round) {
    return round < 10 || System.nanoTime() - start < SilentProgramContract.SOAK_NANOS;
  }

  private static Task<Void> receive(Connection connection, int count) {
    return Task.start(() -> {
      for (int i = 0; i < count; i++) {
        connection.receiver().receive(Task.PATIENCE).close();
      }
      return null;
    });
  }
}
