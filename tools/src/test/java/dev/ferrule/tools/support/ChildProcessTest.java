// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ChildProcessTest {

  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  @Test
  void aChildRunsOnTheSameJavaAndClassPath() {
    assertThat(ChildProcess.commandLine("dev.ferrule.tools.Main", List.of("doctor")))
        .startsWith(System.getProperty("java.home") + "/bin/java")
        .contains(System.getProperty("java.class.path"))
        .endsWith("dev.ferrule.tools.Main", "doctor");
  }

  @Test
  void aChildThatFailsPassesItsMessageAndItsExitCodeOn() {
    try (ChildProcess child = ChildProcess.start(List.of("listen", "nowhere"), line -> {})) {
      assertThatThrownBy(() -> child.awaitAnswer(TIMEOUT))
          .isInstanceOf(ToolException.class)
          .hasMessageStartingWith("nowhere: the address has no scheme")
          .extracting(failure -> ((ToolException) failure).exitCode())
          .isEqualTo(ExitCode.USAGE);
    }
  }

  @Test
  void closingAChildEndsIt() {
    ChildProcess child =
        ChildProcess.start(List.of("serve", "--child", "sm:///tmp/ferrule-child-test"), line -> {});
    String uri = child.awaitAnswer(TIMEOUT);
    assertThat(uri).startsWith("sm:///tmp/ferrule-child-test/");
    child.close();
    assertThat(ProcessHandle.of(child.pid())).isEmpty();
  }

  /** More children than processors, each of which a reading virtual thread would occupy. */
  @Test
  void theOutputOfAnyNumberOfChildrenIsRead() {
    int count = Runtime.getRuntime().availableProcessors() + 1;
    List<ChildProcess> children = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        ChildProcess child =
            ChildProcess.start(
                List.of("serve", "--child", "sm:///tmp/ferrule-child-test-" + i), line -> {});
        children.add(child);
        assertThat(child.awaitAnswer(TIMEOUT)).startsWith("sm:///tmp/ferrule-child-test-" + i);
      }
    } finally {
      children.forEach(ChildProcess::close);
    }
  }
}
