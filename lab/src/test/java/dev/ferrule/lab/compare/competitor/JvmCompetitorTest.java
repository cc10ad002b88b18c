// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.competitor;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.lab.compare.transport.Mode;
import dev.ferrule.lab.compare.transport.TransportsUnderTest;
import dev.ferrule.tools.support.ToolException;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class JvmCompetitorTest {

  @Test
  void aMeasurementFailsAtOnceWhenOneOfItsProcessesEnds() {
    Set<ProcessHandle> before = ProcessHandle.current().children().collect(Collectors.toSet());
    // Agrona's client does not notice that its server has ended.
    try (BenchmarkRun run =
        new JvmCompetitor(TransportsUnderTest.named("agrona"))
            .start(Mode.ONE_SENDER, problem -> {})) {
      ProcessHandle server =
          ProcessHandle.current()
              .children()
              .filter(child -> !before.contains(child))
              .min(Comparator.comparing(child -> child.info().startInstant().orElseThrow()))
              .orElseThrow();
      CompletableFuture<Outcome> measuring =
          CompletableFuture.supplyAsync(() -> run.measure(Measure.RATE, 8, Integer.MAX_VALUE));
      server.destroyForcibly();
      assertThatThrownBy(measuring::join).hasCauseInstanceOf(ToolException.class);
    }
  }
}
