// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.integration.ExamplesPage;
import dev.ferrule.integration.JavaPrograms;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The program that docs/verbs.md shows, run by the command of the examples' README. */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class VerbsExampleTest {

  @RegisterExtension final JavaPrograms programs = new JavaPrograms();

  @Test
  void theExampleSendsWritesAndReads() throws Exception {
    ExamplesPage.Command command = ExamplesPage.command("raw-verbs/VerbsExample.java");
    assertThat(command.placeholders()).containsExactly("$FERRULE_RXE_ADDRESS");
    Process example = programs.start(command.source(), List.of(RdmaDevice.address()));
    assertThat(JavaPrograms.outputOf(example)).containsExactly("sent, written, read");
  }
}
