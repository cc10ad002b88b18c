// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class StatusLineTest {

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream terminal = new PrintStream(bytes, true, StandardCharsets.UTF_8);

  private String written() {
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void nothingIsShownWithoutATerminal() {
    StatusLine line = new StatusLine(terminal, OptionalInt.empty());
    line.show("round 1");
    line.clear();
    assertThat(line.isShown()).isFalse();
    assertThat(written()).isEmpty();
  }

  @Test
  void theLineIsCutOffBeforeItWrapsAndIsErasedCompletely() {
    StatusLine line = new StatusLine(terminal, OptionalInt.of(8));
    line.show("round 1 of 2");
    assertThat(written()).isEqualTo("\r\033[Kround 1");
    line.clear();
    line.clear();
    assertThat(written()).isEqualTo("\r\033[Kround 1\r\033[K");
  }
}
