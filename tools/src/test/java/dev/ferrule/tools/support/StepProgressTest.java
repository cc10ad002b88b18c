// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class StepProgressTest {

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final List<String> log = new ArrayList<>();

  private StepProgress progress(OptionalInt width) {
    PrintStream terminal = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    return new StepProgress(new StatusLine(terminal, width), log::add, "evaluate", 4, 1);
  }

  @Test
  void withoutATerminalEachCompletedStepHasALine() {
    try (StepProgress progress = progress(OptionalInt.empty())) {
      for (String step : List.of("sm latency", "sm latency", "sm calls")) {
        progress.begin(step);
        progress.finish();
      }
    }
    assertThat(log).hasSize(3);
    assertThat(log.get(0)).matches("evaluate: 2 of 4, 0:\\d\\d left: sm latency");
    assertThat(log.get(1)).matches("evaluate: 3 of 4, 0:\\d\\d left: sm latency");
    assertThat(log.get(2)).isEqualTo("evaluate: 4 of 4: sm calls");
    assertThat(bytes.size()).isZero();
  }

  @Test
  void onATerminalOneLineShowsTheCurrentStepAndIsErasedAtTheEnd() {
    try (StepProgress progress = progress(OptionalInt.of(80))) {
      progress.begin("sm latency");
      progress.finish();
    }
    assertThat(bytes.toString(StandardCharsets.UTF_8))
        .isEqualTo("\r\033[Kevaluate: 1 of 4: sm latency\r\033[K");
    assertThat(log).isEmpty();
  }
}
