// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildProcessTest {

  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int SIGINT = 2;

  /** Servers that are child processes remove the directories of their addresses. */
  @TempDir private Path folder;

  private List<String> serve(String name) {
    return List.of("serve", "--child", address(name));
  }

  private String address(String name) {
    return "sm://" + folder.resolve(name);
  }

  @Test
  void aChildRunsOnTheSameJavaAndClassPath() {
    assertThat(ChildProcess.commandLine("dev.ferrule.tools.Main", List.of("doctor")))
        .startsWith(System.getProperty("java.home") + "/bin/java")
        .contains(System.getProperty("java.class.path"))
        .endsWith("dev.ferrule.tools.Main", "doctor");
  }

  @Test
  void theMessageAndTheExitCodeOfAFailedChildAreReported() {
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
    ChildProcess child = ChildProcess.start(serve("app"), line -> {});
    String uri = child.awaitAnswer(TIMEOUT);
    assertThat(uri).startsWith(address("app") + "/");
    child.close();
    assertThat(ProcessHandle.of(child.pid())).isEmpty();
  }

  @Test
  void theEndByASignalIsReported() {
    List<String> errors = new CopyOnWriteArrayList<>();
    ChildProcess child = ChildProcess.start(serve("app"), errors::add);
    child.awaitAnswer(TIMEOUT);
    ProcessHandle process = ProcessHandle.of(child.pid()).orElseThrow();
    process.destroyForcibly();
    process.onExit().join();
    child.close();
    assertThat(errors).containsExactly("its process was ended by signal 9");
  }

  /** A terminal also sends SIGINT to the parent, which then closes the child. */
  @Test
  void ctrlCDoesNotEndAChild() throws Exception {
    List<String> errors = new CopyOnWriteArrayList<>();
    try (ChildProcess child = ChildProcess.start(serve("app"), errors::add)) {
      child.awaitAnswer(TIMEOUT);
      assertThat(ignoredSignals(child.pid()) >> SIGINT - 1 & 1).isEqualTo(1);
      new ProcessBuilder("kill", "-INT", String.valueOf(child.pid())).start().waitFor();
    }
    assertThat(errors).isEmpty();
  }

  private static long ignoredSignals(long pid) throws IOException {
    String field = "SigIgn:\t";
    String line =
        Files.readAllLines(Path.of("/proc", String.valueOf(pid), "status")).stream()
            .filter(each -> each.startsWith(field))
            .findFirst()
            .orElseThrow();
    return Long.parseUnsignedLong(line.substring(field.length()), 16);
  }

  @Test
  void anOrdinaryEndIsNotReported() {
    List<String> errors = new CopyOnWriteArrayList<>();
    ChildProcess child = ChildProcess.start(serve("app"), errors::add);
    child.awaitAnswer(TIMEOUT);
    child.close();
    assertThat(errors).isEmpty();
  }

  /** There are more children than processors, and reading virtual threads would occupy them all. */
  @Test
  void theOutputOfAnyNumberOfChildrenIsRead() {
    int count = Runtime.getRuntime().availableProcessors() + 1;
    List<ChildProcess> children = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        ChildProcess child = ChildProcess.start(serve("app" + i), line -> {});
        children.add(child);
        assertThat(child.awaitAnswer(TIMEOUT)).startsWith(address("app" + i) + "/");
      }
    } finally {
      children.forEach(ChildProcess::close);
    }
  }
}
