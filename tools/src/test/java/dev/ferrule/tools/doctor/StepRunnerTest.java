// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StepRunnerTest {

  private static final Duration LONG = Duration.ofSeconds(60);
  private static final DiagnosticStep SUCCEEDS = step("first", "echo one; echo two >&2");
  private static final DiagnosticStep FAILS = step("second", "printf three; exit 7");
  private static final DiagnosticStep MISSING =
      DiagnosticStep.program("third", "ferrule-no-such-program -v", "no-package");

  private final List<String> lines = new ArrayList<>();

  @TempDir private Path folder;

  private static DiagnosticStep step(String name, String script) {
    return DiagnosticStep.shell(name, script, script, "sh", "dash");
  }

  private Path file() {
    return folder.resolve("report.txt");
  }

  private boolean run(Duration limit, DiagnosticStep... steps) {
    RdmaReport report = RdmaReport.create(file());
    boolean passed = new StepRunner(report, limit, lines::add).run(List.of(steps));
    report.finish();
    return passed;
  }

  @Test
  void everyStepRunsInOrderAndTheReportHasItsOutputAndItsResult() throws IOException {
    assertThat(run(LONG, SUCCEEDS, FAILS, MISSING, SUCCEEDS)).isFalse();
    assertThat(lines.stream().map(line -> line.replaceAll("[0-9.]+ s$", "N s")))
        .containsExactly(
            "ok       first               exit code 0, N s",
            "failed   second              exit code 7, N s",
            "skipped  third               ferrule-no-such-program is not installed (package"
                + " no-package)",
            "ok       first               exit code 0, N s");
    String report = Files.readString(file()).replaceAll("[0-9.]+ s\n", "N s\n");
    assertThat(report)
        .startsWith("Report of ferrule doctor --rdma\nIt contains the names and addresses ")
        .contains(
            """

            === 1. first
            $ echo one; echo two >&2
            one
            two

            --- ok, exit code 0, N s

            === 2. second
            $ printf three; exit 7
            three
            --- failed, exit code 7, N s

            === 3. third
            $ ferrule-no-such-program -v

            --- skipped, ferrule-no-such-program is not installed (package no-package)

            === 4. first
            """)
        .endsWith(
            "\n=== results\n"
                + String.join("\n", lines).replaceAll("(?m)[0-9.]+ s$", "N s")
                + "\n");
  }

  @Test
  void aMissingProgramIsNotAFailure() {
    assertThat(run(LONG, SUCCEEDS, MISSING)).isTrue();
  }

  @Test
  void aStepIsStoppedAtItsTimeLimitWithTheProcessesThatItStarted() throws IOException {
    DiagnosticStep endless = step("endless", "sleep 1000 & echo $!; wait");
    List<String> children = List.of();
    for (int seconds = 1; children.isEmpty(); seconds *= 2) { // until the shell has started in time
      lines.clear();
      assertThat(run(Duration.ofSeconds(seconds), endless, MISSING)).isFalse();
      assertThat(lines)
          .hasSize(2)
          .first()
          .isEqualTo("failed   endless             stopped at its time limit of " + seconds + " s");
      children = Files.readAllLines(file()).stream().filter(line -> line.matches("\\d+")).toList();
    }
    assertThat(children)
        .singleElement()
        .extracting(child -> ProcessHandle.of(Long.parseLong(child)))
        .satisfies(child -> child.ifPresent(StepRunnerTest::awaitExit));
  }

  private static void awaitExit(ProcessHandle process) {
    assertThat(process.onExit()).succeedsWithin(LONG);
  }

  @Test
  void anEarlierReportIsReplacedButNoOtherFile() throws IOException {
    run(LONG, FAILS);
    run(LONG, SUCCEEDS);
    assertThat(file()).content().contains("1. first").doesNotContain("second");
    Files.writeString(file(), "Report of something else");
    assertThatThrownBy(() -> RdmaReport.create(file()))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("is not a report of this command")
        .extracting(failure -> ((ToolException) failure).exitCode())
        .isEqualTo(ExitCode.USAGE);
    assertThat(file()).hasContent("Report of something else");
  }

  @Test
  void aReportThatCannotBeWrittenIsRefusedBeforeTheFirstStep() {
    assertThatThrownBy(() -> RdmaReport.create(folder.resolve("absent/report.txt")))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("absent/report.txt");
  }
}
