// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How ./test repeats tests that it runs without Maven, and what it reports about all tests. */
@Tag("long")
class RepeatedTestsTest {

  private static final Path CHECKOUT = Path.of("").toAbsolutePath().getParent();

  /** The exit code of a process that this signal ends, such as a JVM after an internal error. */
  private static final int SIGABRT = 134;

  private static Path reportClasses;

  @TempDir private Path folder;

  /** The results of a part and of the report. */
  private record Ended(int part, int report, List<String> lines, List<String> flaky) {}

  private Ended run(String pick) throws Exception {
    return run(pick, "direct");
  }

  /** Runs each class in a JVM of its own, as on the emulated device. */
  private Ended runInGroups(String pick) throws Exception {
    return run(pick, "in_groups");
  }

  private Ended run(String pick, String function) throws Exception {
    int part =
        bash(
            """
            set -euo pipefail
            ulimit -c 0
            export FERRULE_TEST_CLASS_PATH=$3
            . "$1/build-support/console-tests.sh"
            set_jvm -Dferrule.samples.folder="$PWD"
            FERRULE_TESTS=$2 set_selection dev.ferrule.integration.samples sample
            GROUP_SIZE=1
            direct() { "${jvm[@]}" "${launcher[@]}"; }
            group() { set_launcher "$@"; "${jvm[@]}" "${launcher[@]}"; }
            in_groups() { run_groups "$1" group; }
            failing() { if mkdir machine-failed; then return 125; else group "$@"; fi; }
            in_failing_machine() { run_groups "$1" failing; }
            mkdir -p run target
            : >run/started
            run_attempts "$PWD/run/part" "$4"
            """,
            "part.log",
            CHECKOUT.toString(),
            pick,
            System.getProperty("java.class.path"),
            function);
    return report(part);
  }

  private Ended report(int part) throws Exception {
    int report =
        bash(
            "exec \"$1/bin/java\" -XX:TieredStopAtLevel=1 -cp \"$2\" TestReport run",
            "report.log",
            System.getProperty("java.home"),
            reportClasses.toString());
    return new Ended(
        part,
        report,
        Files.readAllLines(folder.resolve("report.log")),
        Files.readAllLines(folder.resolve("target/flaky-tests.txt")));
  }

  /** Compiles the report once; the launcher of source files would compile it for each test. */
  @BeforeAll
  static void compileTheReport(@TempDir Path classes) {
    Path source = CHECKOUT.resolve("build-support/TestReport.java");
    int result =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, "-d", classes.toString(), source.toString());
    assertThat(result).isZero();
    reportClasses = classes;
  }

  private int bash(String script, String log, String... arguments) throws Exception {
    List<String> command =
        Stream.concat(Stream.of("bash", "-c", script, "bash"), Stream.of(arguments)).toList();
    File output = folder.resolve(log).toFile();
    return new ProcessBuilder(command)
        .directory(folder.toFile())
        .redirectErrorStream(true)
        .redirectOutput(output)
        .start()
        .waitFor();
  }

  private long runs(String test) throws IOException {
    try (Stream<Path> runs = Files.list(folder.resolve("runs").resolve(test))) {
      return runs.count();
    }
  }

  private long attempts() throws IOException {
    try (Stream<Path> attempts = Files.list(folder.resolve("run/part"))) {
      return attempts.count();
    }
  }

  @Test
  void testsThatFailOnceAreRepeatedAloneAndListedAsFlaky() throws Exception {
    Ended ended = run("#(passes|failsOnce|failsOnceForOneArgument)$");
    assertThat(ended.part()).isZero();
    assertThat(ended.report()).as("%s", ended).isZero();
    assertThat(ended.flaky())
        .hasSize(2)
        .anySatisfy(line ->
            assertThat(line).startsWith("part: Samples#failsOnce: ").contains("[number of runs]"))
        .anySatisfy(line -> assertThat(line).contains("#failsOnceForOneArgument").contains("[2]"));
    assertThat(ended.lines()).endsWith("4 passed, 0 failed, 0 skipped");
    assertThat(runs("passes")).isEqualTo(1);
    assertThat(runs("one")).isEqualTo(1);
    assertThat(runs("failsOnce")).isEqualTo(2);
  }

  @Test
  void aTestThatFailsEachTimeFailsTheRunAfterTwoRepetitions() throws Exception {
    Ended ended = run("#(passes|failsAlways)$");
    assertThat(ended.part()).isEqualTo(1);
    assertThat(ended.report()).isEqualTo(1);
    assertThat(ended.flaky()).isEmpty();
    assertThat(ended.lines())
        .anyMatch(line -> line.startsWith("  part: Samples#failsAlways: "))
        .endsWith("1 passed, 1 failed, 0 skipped");
    assertThat(runs("failsAlways")).isEqualTo(3);
  }

  @Test
  void aCrashOfTheJvmFailsTheRunAndIsNotRepeated() throws Exception {
    Ended ended = run("#(passes|failsOnce|crashes)$");
    assertThat(ended.part()).isEqualTo(SIGABRT);
    assertThat(ended.report()).isEqualTo(1);
    assertThat(ended.lines())
        .anyMatch(line -> line.startsWith("  part: the JVM ended before its tests"));
    assertThat(attempts()).isEqualTo(1);
    try (Stream<Path> reports = Files.list(folder.resolve("run/part/1"))) {
      assertThat(reports).anyMatch(file -> file.getFileName().toString().startsWith("hs_err_pid"));
    }
  }

  @Test
  void groupsOfClassesRunInTheirOwnJvmsAndAreReportedTogether() throws Exception {
    Ended ended = runInGroups("#(passes|passesToo|failsOnce|failsOnceToo)$");
    assertThat(ended.part()).isZero();
    assertThat(ended.report()).as("%s", ended).isZero();
    assertThat(ended.flaky())
        .hasSize(2)
        .anySatisfy(line -> assertThat(line).startsWith("part: Samples#failsOnce: "))
        .anySatisfy(line -> assertThat(line).startsWith("part: OtherSamples#failsOnceToo: "));
    assertThat(ended.lines()).endsWith("4 passed, 0 failed, 0 skipped");
    assertThat(runs("passes")).isEqualTo(1);
    assertThat(runs("failsOnceToo")).isEqualTo(2);
    assertThat(folder.resolve("run/part/1/2/results.tsv")).exists();
    assertThat(folder.resolve("run/part/2/2")).as("the repetition's").doesNotExist();
  }

  @Test
  void aTestThatFailsEachTimeFailsTheRunOfItsGroup() throws Exception {
    Ended ended = runInGroups("#(passesToo|failsAlways)$");
    assertThat(ended.part()).isEqualTo(1);
    assertThat(ended.report()).isEqualTo(1);
    assertThat(ended.lines()).endsWith("1 passed, 1 failed, 0 skipped");
  }

  @Test
  void aGroupWhoseJvmCrashesIsRepeatedOnceAndTheOthersAreNot() throws Exception {
    Ended ended = runInGroups("#(crashesOnce|passesToo)$");
    assertThat(ended.part()).isZero();
    assertThat(ended.report()).as("%s", ended).isZero();
    assertThat(ended.lines()).endsWith("2 passed, 0 failed, 0 skipped");
    assertThat(runs("passesToo")).isEqualTo(1);
  }

  @Test
  void aTestThatFailsBeforeItsJvmCrashesIsRepeatedLikeAnyOther() throws Exception {
    Ended ended = runInGroups("#(failsOnce|crashesOnce)$");
    assertThat(ended.part()).isZero();
    assertThat(ended.report()).as("%s", ended).isZero();
    assertThat(ended.flaky()).hasSize(1).first().asString().contains("#failsOnce");
    assertThat(runs("failsOnce")).as("with the crash, repeated, and alone").isEqualTo(3);
  }

  @Test
  void aGroupWhoseMachineFailsIsRepeatedOnce() throws Exception {
    Ended ended = run("#(passes|passesToo)$", "in_failing_machine");
    assertThat(ended.part()).isZero();
    assertThat(ended.lines()).endsWith("2 passed, 0 failed, 0 skipped");
    assertThat(folder.resolve("machine-failed")).exists();
  }

  @Test
  void aSecondGroupWhoseJvmCrashesFailsTheRun() throws Exception {
    Ended ended = runInGroups("#(crashesOnce|crashesOnceToo)$");
    assertThat(ended.part()).isEqualTo(SIGABRT);
    assertThat(ended.report()).isEqualTo(1);
  }

  @Test
  void aGroupWhoseResultsCannotBeWrittenFailsTheRun() throws Exception {
    Files.createDirectories(folder.resolve("groups"));
    Files.createFile(folder.resolve("groups/2"));
    int part =
        bash(
            """
            set -uo pipefail
            . "$1/build-support/console-tests.sh"
            class_groups() { printf 'A\nB\nC\n'; }
            passes() { echo ENDED >"$1/results.tsv"; }
            selection=(--select-package p) filters=()
            run_groups groups passes
            """,
            "part.log",
            CHECKOUT.toString());
    assertThat(part).isEqualTo(125);
    assertThat(folder.resolve("groups/results.tsv")).content().doesNotContain("ENDED");
  }

  @Test
  void aGroupWhoseJvmCrashesTwiceFailsTheRun() throws Exception {
    Ended ended = runInGroups("#(crashes|passesToo)$");
    assertThat(ended.part()).isEqualTo(SIGABRT);
    assertThat(ended.report()).isEqualTo(1);
    assertThat(runs("crashes")).isEqualTo(2);
    assertThat(ended.lines())
        .anyMatch(line -> line.startsWith("  part: the JVM ended before its tests"));
  }

  @Test
  void aClassWhosePreparationFailsIsRepeated() throws Exception {
    Ended ended = run("FailsBeforeAllOnce");
    assertThat(ended.part()).isZero();
    assertThat(ended.flaky()).hasSize(1).first().asString().contains("FailsBeforeAllOnce");
    assertThat(runs("prepare")).isEqualTo(2);
  }

  @Test
  void aLeakThatIsFoundOnceFailsTheRun() throws Exception {
    Ended ended = run("#failsOnceByALeak$");
    assertThat(ended.part()).isZero();
    assertThat(ended.report()).isEqualTo(1);
  }

  @Test
  void moreFailuresThanMayBeFlakyAreNotRepeated() throws Exception {
    Ended ended = run("ManyFail");
    assertThat(ended.part()).isEqualTo(1);
    assertThat(ended.report()).isEqualTo(1);
    assertThat(attempts()).isEqualTo(1);
    assertThat(ended.lines()).endsWith("0 passed, 4 failed, 0 skipped");
  }

  @Test
  void moreThanThreeFlakyTestsOfSeveralPartsFailTheRun() throws Exception {
    Files.createDirectories(folder.resolve("target"));
    for (String part : List.of("containers", "device")) {
      result(part, 1, "FAILED\t5\tT#a\tid-a\tat first", "FAILED\t5\tT#b\tid-b\tat first");
      result(part, 2, "SUCCESSFUL\t5\tT#a\tid-a\t", "SUCCESSFUL\t5\tT#b\tid-b\t");
    }
    Files.createFile(folder.resolve("run/started"));
    Ended ended = report(0);
    assertThat(ended.report()).isEqualTo(1);
    assertThat(ended.flaky()).hasSize(4);
    assertThat(ended.lines()).contains("More than 3 flaky tests are a failure.");
  }

  @Test
  void aTestIsNotFlakyIfItsJvmEndsDuringTheRepetition() throws Exception {
    Files.createDirectories(folder.resolve("target"));
    result("device", 1, "FAILED\t5\tT#a\tid-a\tat first", "FAILED\t5\tT#b\tid-b\tat first");
    Path second = folder.resolve("run/device/2/results.tsv");
    Files.createDirectories(second.getParent());
    Files.writeString(second, "SUCCESSFUL\t5\tT#a\tid-a\t\n");
    Files.createFile(folder.resolve("run/started"));
    Ended ended = report(1);
    assertThat(ended.flaky()).hasSize(1).first().asString().contains("T#a");
    assertThat(ended.lines())
        .contains("Failed tests: 2", "  device: T#b: at first")
        .endsWith("1 passed, 2 failed, 0 skipped");
  }

  private void result(String part, int attempt, String... lines) throws IOException {
    Path reports = folder.resolve("run").resolve(part).resolve(Integer.toString(attempt));
    Files.createDirectories(reports);
    Files.write(
        reports.resolve("results.tsv"),
        Stream.concat(Stream.of(lines), Stream.of("ENDED")).toList());
  }

  @Test
  void aSkippedPartIsReportedWithTheCounts() throws Exception {
    Files.createDirectories(folder.resolve("target"));
    result("device", 1, "SUCCESSFUL\t5\tT#a\tid-a\t");
    Files.createDirectories(folder.resolve("run/containers"));
    Files.writeString(folder.resolve("run/containers/skipped"), "no Docker engine\n");
    Files.createFile(folder.resolve("run/started"));
    Ended ended = report(0);
    assertThat(ended.report()).isZero();
    assertThat(ended.lines())
        .endsWith("1 passed, 0 failed, 0 skipped; all of containers skipped: no Docker engine");
  }

  @Test
  void aRunWithoutAnyTestFails() throws Exception {
    Files.createDirectories(folder.resolve("target"));
    Files.createDirectories(folder.resolve("run"));
    Files.createFile(folder.resolve("run/started"));
    assertThat(report(0).report()).isEqualTo(1);
  }

  /**
   * The elements of Surefire's reports are tested in src/it/repeated-tests, with Surefire itself.
   */
  @Test
  void theSlowestClassesIncludeTheirNestedOnes() throws Exception {
    Files.createDirectories(folder.resolve("target"));
    result(
        "device",
        1,
        "SUCCESSFUL\t1500\tA$Wait#x\t1\t",
        "SUCCESSFUL\t2000\tA$Close#y\t2\t",
        "SUCCESSFUL\t3000\tB#z\t3\t");
    Files.createFile(folder.resolve("run/started"));
    assertThat(report(0).lines())
        .containsSequence(
            "Slowest test classes:", "     3.5 s  device: A", "     3.0 s  device: B");
  }
}
