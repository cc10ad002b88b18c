// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the scripts that build before they run, in a copy of the checkout with a fake Maven and
 * JDK.
 */
@Tag("long")
class BuildScriptsTest {

  private static final Path CHECKOUT = Path.of("").toAbsolutePath().getParent();
  private static final List<String> SCRIPTS =
      List.of("ferrule", "compare", "benchmark", "release", "with-rxe", "with-arch", "test");

  @TempDir private Path folder;

  private Path root;
  private Path output;

  /** The result of a script. */
  private record Ended(int exitCode, String out, String err) {}

  @BeforeEach
  void copyTheScripts() throws IOException {
    root = Files.createDirectory(folder.resolve("checkout"));
    output = folder.resolve("err.txt");
    for (String script : SCRIPTS) {
      Files.copy(
          CHECKOUT.resolve(script), root.resolve(script), StandardCopyOption.COPY_ATTRIBUTES);
    }
    Path support = CHECKOUT.resolve("build-support");
    try (Stream<Path> files = Files.walk(support)) {
      for (Path file : files.toList()) {
        Files.copy(
            file,
            root.resolve("build-support").resolve(support.relativize(file).toString()),
            StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
    for (String module : List.of("lab", "benchmarks")) {
      Files.createDirectories(root.resolve(module).resolve("src/main"));
      Files.createFile(root.resolve(module).resolve("pom.xml"));
    }
    Files.createFile(root.resolve("pom.xml"));
    program(
        "bin/mvn",
        """
        echo "$*" >>"$HOME/maven"
        env >"$HOME/environment"
        echo "[INFO] Building Ferrule API 0.1.0-SNAPSHOT                     [1/2]"
        echo "[INFO] Building Ferrule tools 0.1.0-SNAPSHOT                   [2/2]"
        [ ! -f "$HOME/broken" ] || { echo "[ERROR] Foo.java:[3,4] ';' expected"; exit 1; }
        mkdir -p lab/target/lab/lib benchmarks/target/benchmarks/lib
        """);
    program("jdk/bin/javac", "");
    program("jdk/bin/java", "echo java \"$@\"");
    Files.writeString(folder.resolve("jdk/release"), "JAVA_VERSION=\"25.0.1\"\n");
  }

  private void program(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, "#!/usr/bin/env bash\n" + text);
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  private Ended run(String... command) throws Exception {
    Process process = start(List.of(command));
    process.getOutputStream().close();
    String out = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor(200, TimeUnit.SECONDS)).isTrue();
    return new Ended(process.exitValue(), out, Files.readString(output));
  }

  private Process start(List<String> command) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.directory(root.toFile()).redirectError(output.toFile());
    builder.environment().put("PATH", folder.resolve("bin") + ":" + System.getenv("PATH"));
    builder.environment().put("JAVA25_HOME", folder.resolve("jdk").toString());
    builder.environment().put("HOME", folder.toString());
    builder
        .environment()
        .keySet()
        .removeAll(Set.of("XDG_CACHE_HOME", "FERRULE_JAVA_OPTS", "JAVA_HOME", "MAVEN_OPTS"));
    return builder.start();
  }

  private List<String> builds() throws IOException {
    Path log = folder.resolve("maven");
    return Files.exists(log) ? Files.readAllLines(log) : List.of();
  }

  @Test
  void theFirstBuildIsAnnouncedAndShowsItsProgress() throws Exception {
    Ended first = run("./ferrule", "--version");
    assertThat(first.exitCode()).as(first.err()).isZero();
    assertThat(first.err())
        .startsWith("ferrule: building for the first time; this takes minutes")
        .contains("ferrule: building 1/2 Ferrule API", "ferrule: building 2/2 Ferrule tools")
        .doesNotContain("changed", "\033");
    assertThat(first.out()).startsWith("java ").contains("dev.ferrule.tools.Main --version");
    assertThat(builds()).hasSize(1).first().asString().contains("-Dstyle.color=never");
  }

  @Test
  void modulesAreRebuiltOnlyIfTheSourcesHaveChanged() throws Exception {
    run("./ferrule", "--version");
    assertThat(run("./ferrule", "--version").err()).isEmpty();
    assertThat(builds()).hasSize(1);
    Path source = Files.createFile(root.resolve("lab/src/main/New.java"));
    Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(5)));
    assertThat(run("./ferrule", "--version").err())
        .startsWith("ferrule: building, because the sources have changed\n");
    assertThat(builds()).hasSize(2);
  }

  /**
   * The formatter that runs in Maven parses Java 25; since 24 JVMs warn about Maven's libraries.
   */
  @Test
  void mavenRunsOnTheDetectedJdkWithoutItsWarnings() throws Exception {
    Path jdk = folder.resolve("jdk");
    assertThat(run("env", "JAVA_HOME=/nowhere", "./ferrule", "--version").exitCode()).isZero();
    assertThat(environmentOfMaven())
        .contains("JAVA25_HOME=" + jdk, "JAVA_HOME=" + jdk)
        .anyMatch(line ->
            line.startsWith("MAVEN_OPTS=")
                && line.contains("--enable-native-access=ALL-UNNAMED")
                && line.contains("--sun-misc-unsafe-memory-access=allow"));
  }

  @ParameterizedTest
  @CsvSource({
    "25, true",
    "25.0.4, true",
    "26-ea, true",
    "30.0.1, true",
    "24.0.2, false",
    "1.8.0_9, false"
  })
  void aLaterJdkIsAcceptedAndAnEarlierOneIsNot(String version, boolean accepted) throws Exception {
    Files.writeString(folder.resolve("jdk/release"), "JAVA_VERSION=\"" + version + "\"\n");
    Ended ended =
        run("bash", "-c", ". build-support/find-jdk.sh; is_our_jdk \"$JAVA25_HOME\" && echo yes");
    assertThat(ended.out()).isEqualTo(accepted ? "yes\n" : "");
  }

  /** Makes the copy a checkout whose files are committed. */
  private void commitTheScripts() throws Exception {
    Files.writeString(root.resolve("pom.xml"), "  <version>0.1.0-SNAPSHOT</version>\n");
    assertThat(run("git", "init", "--quiet").exitCode()).isZero();
    assertThat(run("git", "add", "-A").exitCode()).isZero();
    addEmptyCommit(root); // contains what was added
  }

  /** A Maven that deploys its arguments and the pom. */
  private void mavenDeploys() throws IOException {
    program(
        "bin/mvn",
        """
        echo "$*" >>"$HOME/maven"
        [ ! -f "$HOME/broken" ] || { echo "[ERROR] Foo.java:[3,4] ';' expected"; exit 1; }
        for argument; do
          case $argument in -DaltDeploymentRepository=*) to=${argument#*::file://} ;; esac
        done
        mkdir -p "$to"
        cp pom.xml "$to/a.pom"
        touch "$to/maven-metadata.xml" "$to/a-1.2.3-tests.jar" "$to/a-1.2.3-tests.jar.sha1"
        """);
  }

  @Test
  void aReleaseIsBuiltOfTheLastCommitAndChangesNoFileOfTheCheckout() throws Exception {
    commitTheScripts();
    mavenDeploys();
    Ended ended = run("./release", "1.2.3", "--to", "../repository");
    assertThat(ended.exitCode()).as("%s", ended).isZero();
    Path repository = folder.resolve("repository");
    assertThat(ended.out()).isEqualTo("release: 1.2.3 is in " + repository + ": 1 artifacts\n");
    assertThat(repository.resolve("a.pom")).hasContent("  <version>1.2.3</version>\n");
    assertThat(repository.toFile().list()).containsExactly("a.pom");
    assertThat(run("git", "status", "--porcelain").out()).isEmpty();
    assertThat(builds()).hasSize(1).first().asString().contains("-Dgpg.skip");
  }

  @Test
  void aReleaseWhoseBuildFailsWritesNothing() throws Exception {
    commitTheScripts();
    mavenDeploys();
    Files.createFile(folder.resolve("broken"));
    Ended ended = run("./release", "1.2.3", "--to", "../repository");
    assertThat(ended.exitCode()).isEqualTo(1);
    assertThat(ended.out()).contains("Foo.java:[3,4] ';' expected");
    assertThat(ended.err()).endsWith("release: the build failed; nothing was written\n");
    assertThat(folder.resolve("repository")).isEmptyDirectory();
  }

  @Test
  void aReleaseOfFilesThatAreNotCommittedIsRefused() throws Exception {
    commitTheScripts();
    Files.createFile(root.resolve("new.txt"));
    Ended ended = run("./release", "1.2.3", "--to", "../repository");
    assertThat(ended.exitCode()).isEqualTo(1);
    assertThat(ended.err()).contains("commit or remove these files:\n?? new.txt");
    assertThat(builds()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "--to ../r, missing version",
    "1.2.3, missing --to FOLDER",
    "1.2.3 --to, missing value of --to",
    "1.2.3-SNAPSHOT --to ../r, 1.2.3-SNAPSHOT is not the version of a release",
    "1.2 --to ../r, 1.2 is not the version of a release",
    "v1.2.3 --to ../r, v1.2.3 is not the version of a release",
    "1.2.3 1.2.4 --to ../r, two versions",
    "1.2.3 --to build-support, build-support is not empty; give another folder",
    "1.2.3 --to pom.xml, pom.xml is not a folder",
    "1.2.3 --to ../r --sign ../nothing, cannot read the key",
    "1.2.3 --upload, unknown option --upload"
  })
  void wrongOptionsOfAReleaseAreErrors(String options, String message) throws Exception {
    List<String> line = new ArrayList<>(List.of("./release"));
    line.addAll(List.of(options.split(" ")));
    Ended ended = run(line.toArray(String[]::new));
    assertThat(ended.exitCode()).isEqualTo(2);
    assertThat(ended.err()).startsWith("release: ").contains(message).endsWith("; see --help\n");
    assertThat(builds()).isEmpty();
  }

  private List<String> environmentOfMaven() throws IOException {
    return Files.readAllLines(folder.resolve("environment"));
  }

  @Test
  void theMeasurementOfManyConnectionsBuildsItsModule() throws Exception {
    Ended ended = run("build-support/many-connections.sh", "--rounds", "1");
    assertThat(ended.exitCode()).as(ended.err()).isZero();
    assertThat(ended.err()).startsWith("many-connections.sh: building for the first time");
    assertThat(ended.out()).contains("concurrency.ManyConnections --rounds 1");
    assertThat(builds()).hasSize(1).first().asString().contains("-pl lab ");
  }

  @Test
  void aFailedBuildPrintsItsErrorsAndTheLogFile() throws Exception {
    Files.createFile(folder.resolve("broken"));
    Ended broken = run("./ferrule", "--version");
    assertThat(broken.exitCode()).isEqualTo(1);
    assertThat(broken.out()).isEmpty();
    assertThat(broken.err())
        .contains("Foo.java:[3,4] ';' expected")
        .endsWith("complete output is in " + root.resolve("target/ferrule-build.log") + "\n");
  }

  @Test
  void sourcesOutsideOfACheckoutHaveNoCommitEvenWithinAnotherRepository() throws Exception {
    assertThat(run("build-support/commit.sh").out()).isEmpty();
    assertThat(run("git", "init", "--quiet", folder.toString()).exitCode()).isZero();
    addEmptyCommit(folder);
    assertThat(run("build-support/commit.sh").out()).isEmpty();
    assertThat(run("git", "init", "--quiet", root.toString()).exitCode()).isZero();
    addEmptyCommit(root);
    assertThat(run("build-support/commit.sh").out()).matches("[0-9a-f]{12}\\n");
  }

  private void addEmptyCommit(Path repository) throws Exception {
    String commit = "-c user.name=a -c user.email=b commit --quiet --allow-empty --message=c";
    assertThat(run(("git -C " + repository + " " + commit).split(" ")).exitCode()).isZero();
  }

  /** A build in the virtual machine would be slow, and could not download anything. */
  @ParameterizedTest
  @CsvSource({"./ferrule latency, lab", "./compare --quick, lab", "./benchmark -l, benchmarks"})
  void withRxeBuildsTheCommandsModuleBeforeItLooksForADevice(String command, String module)
      throws Exception {
    List<String> line = new ArrayList<>(List.of("./with-rxe", "--device", "no-such-device"));
    line.addAll(List.of(command.split(" ")));
    Ended ended = run(line.toArray(String[]::new));
    assertThat(ended.exitCode()).as(ended.err()).isNotZero(); // the device does not exist
    assertThat(ended.err()).startsWith("with-rxe: building for the first time");
    assertThat(builds()).hasSize(1).first().asString().contains("-pl " + module + " ");
    run(command.split(" "));
    assertThat(builds()).as("not built again in the virtual machine").hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({
    "'', missing architecture",
    "riscv64 true, unknown architecture riscv64; only aarch64 is known",
    "aarch64, missing command",
    "--pages 64 aarch64 true, --pages must be 4 or 16",
    "aarch64 --pages, --pages must be 4 or 16",
    "--cpus 0 aarch64 true, --cpus needs a number",
    "--jdk build-support aarch64 true, --jdk needs the folder of a JDK",
    "--share nothing aarch64 true, --share needs a folder",
    "--share /usr/bin aarch64 true, the machine has a folder /usr/bin of its own",
    "--vm aarch64 true, unknown option --vm"
  })
  void wrongOptionsOfWithArchAreErrors(String options, String message) throws Exception {
    List<String> line = new ArrayList<>(List.of("./with-arch"));
    line.addAll(List.of(options.isEmpty() ? new String[0] : options.split(" ")));
    Ended ended = run(line.toArray(String[]::new));
    assertThat(ended.exitCode()).isEqualTo(2);
    assertThat(ended.err()).isEqualTo("with-arch: " + message + "; see --help\n");
    assertThat(builds()).isEmpty();
  }

  /**
   * Replaces Maven by a program that writes a report as Surefire does; src/it/repeated-tests tests
   * Surefire itself.
   */
  private void replaceMavenByReport(String testcase) throws IOException {
    program(
        "bin/mvn",
        """
        echo "$*" >>"$HOME/maven"
        mkdir -p api/target/surefire-reports
        cat >api/target/surefire-reports/TEST-a.b.ATest.xml <<'EOF'
        <testsuite><testcase name="works" classname="a.b.ATest" time="1.5"/>%s</testsuite>
        EOF
        """
            .formatted(testcase));
    String java = Path.of(System.getProperty("java.home"), "bin/java").toString();
    program("jdk/bin/java", "exec " + java + " \"$@\"\n");
  }

  @Test
  void theTestsOfMavenAreCountedAndTheSlowestClassesListed() throws Exception {
    replaceMavenByReport("");
    Ended ended = run("./test", "--only", "maven", "-Dsome=thing");
    assertThat(ended.exitCode()).as("%s", ended).isZero();
    assertThat(builds()).last().asString().contains("verify", "-Dsome=thing");
    assertThat(ended.out())
        .contains("Slowest test classes:\n     1.5 s  api: ATest\n")
        .endsWith("1 passed, 0 failed, 0 skipped\n");
    assertThat(root.resolve("target/flaky-tests.txt")).isEmptyFile();
  }

  @Test
  void aFlakyTestOfMavenIsListedAndOnlyALeakFailsTheRun() throws Exception {
    String flaky =
        """
        <testcase name="%s" classname="a.b.ATest" time="1"><flakyFailure message="too
        late">trace</flakyFailure></testcase>\
        """;
    replaceMavenByReport(flaky.formatted("mayFail"));
    assertThat(run("./test", "-pl", "api").exitCode()).isZero();
    assertThat(root.resolve("target/flaky-tests.txt")).hasContent("api: ATest#mayFail: too late");
    replaceMavenByReport(flaky.formatted("leaksNothing"));
    assertThat(run("./test", "-pl", "api").exitCode()).isEqualTo(1);
  }

  @Test
  void aReportOfAnEarlierRunDoesNotCount() throws Exception {
    replaceMavenByReport("");
    assertThat(run("./test", "-pl", "api").exitCode()).isZero();
    program("bin/mvn", "exit 0\n");
    Ended ended = run("./test", "-pl", "api");
    assertThat(ended.exitCode()).isEqualTo(1);
    assertThat(ended.out()).endsWith("0 passed, 0 failed, 0 skipped\n");
  }

  /** The scripts of the parts are replaced by ones that only write results. */
  @Test
  void thePartsRunOnTheBuiltClassesAndTheirTestsAreCountedTogether() throws Exception {
    replaceMavenByReport("");
    Path built = Files.createDirectories(root.resolve("integration-tests/target/test-classes"));
    Files.createFile(built.resolve("A.class"));
    Files.writeString(root.resolve("integration-tests/target/test-classpath"), "/lib/junit.jar");
    for (String script : List.of("container-tests", "rdma-tests")) {
      program(
          "checkout/build-support/" + script + ".sh",
          """
          for reports; do true; done
          tests=${FERRULE_TEST_CLASS_PATH%%:*}
          [ -f "$tests/A.class" ] && [ "$tests" != integration-tests/target/test-classes ] || exit 3
          mkdir -p "$reports/1"
          printf 'SUCCESSFUL\t10\tT#t\tid\t\nENDED\n' >"$reports/1/results.tsv"
          echo "$reports" | sed 's,.*/,ran ,'
          """);
    }
    program(
        "checkout/models/check",
        """
        mkdir -p "$2"
        printf 'SUCCESSFUL\t10\tT#t\tid\t\nENDED\n' >"$2/results.tsv"
        """);
    Ended ended = run("./test");
    assertThat(ended.exitCode()).as("%s", ended).isZero();
    assertThat(ended.out())
        .contains(
            "containers: ran containers\n",
            "device: ran device\n",
            "two-hosts: ran two-hosts\n",
            "emulated: ran emulated\n")
        .endsWith("6 passed, 0 failed, 0 skipped\n");
  }

  @ParameterizedTest
  @CsvSource({
    "--seeds 0, must be a number of at least 1",
    "--seeds all, must be a number of at least 1",
    "--seeds 5 --only models, leave out --only",
    "--only models --seeds 5, leave out --only",
    "--tests x --seeds 5, leave out --only"
  })
  void anInvalidUseOfTheOptionSeedsIsRefused(String options, String reason) throws Exception {
    List<String> command = new ArrayList<>(List.of("./test"));
    command.addAll(List.of(options.split(" ")));
    Ended ended = run(command.toArray(String[]::new));
    assertThat(ended.exitCode()).isEqualTo(2);
    assertThat(ended.err()).contains(reason);
  }

  /** Runs models/check on a model with one check, with a fake model checker that prints a text. */
  private Ended runCheck(String check, String printed) throws Exception {
    Path models = Files.createDirectories(root.resolve("models"));
    Files.copy(CHECKOUT.resolve("models/check"), models.resolve("check"));
    Files.writeString(
        models.resolve("m.pml"), "/*\n * " + check + "\n */\n#ifndef N\nltl ends { <> done }\n");
    Files.writeString(folder.resolve("printed"), printed.replace(';', '\n') + "\n");
    if (!Files.exists(folder.resolve("bin/spin"))) {
      program("bin/spin", "");
    }
    program("bin/gcc", "printf '#!/bin/sh\\ncat \"$HOME/printed\"\\n' >pan; chmod +x pan");
    return run("models/check");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "prove safety N=1 | 0 | State-vector 20 byte; errors: 0; 7 states, stored",
        "prove ends | 0 | State-vector 20 byte; errors: 0; 7 states, stored",
        "prove safety | 1 | pan:1: assertion violated (a) (at depth 3); errors: 1; 7 states, stored",
        "prove safety | 1 | pan: reached -DMEMLIM bound; Warning: Search not completed; errors: 0;"
            + " 7 states, stored",
        "prove safety | 1 | error: max search depth too small; errors: 0; 7 states, stored",
        "prove safety | 1 | errors: 0",
        "prove safety | 1 | syntax error",
        "refute ends: acceptance cycle | 0 | pan:1: acceptance cycle (at depth 3); errors: 1",
        "refute safety: assertion violated | 1 | errors: 0; 7 states, stored",
        "refute safety: invalid end state | 1 | pan:1: assertion violated (a); errors: 1",
        "refute safety | 1 | pan:1: assertion violated (a); errors: 1"
      })
  void aCheckOfAModelPassesIfTheWholeSearchEndsAsExpected(
      String check, int exitCode, String printed) throws Exception {
    Ended ended = runCheck(check, printed);
    assertThat(ended.exitCode()).as("%s", ended).isEqualTo(exitCode);
    assertThat(ended.out()).endsWith(1 - exitCode + " of 1 checks passed\n");
  }

  @Test
  void aCheckOfAModelThatIsKilledHasNotPassed() throws Exception {
    program("bin/spin", "kill -9 $(sed -n 's/PPid://p' /proc/$PPID/status)");
    Ended ended = runCheck("prove safety", "State-vector 20 byte; errors: 0; 7 states, stored");
    assertThat(ended.exitCode()).as("%s", ended).isEqualTo(1);
    assertThat(ended.out()).endsWith("0 of 1 checks passed\n");
  }

  @ParameterizedTest
  @CsvSource({
    "prove end, no formula end",
    "prove safety M=1, unknown M",
    "prove  safety, malformed",
    "Prove safety, malformed",
    "proves safety, lists no check"
  })
  void anInvalidCheckOfAModelIsRefused(String check, String reason) throws Exception {
    Ended ended = runCheck(check, "errors: 0; 7 states, stored");
    assertThat(ended.exitCode()).as("%s", ended).isEqualTo(2);
    assertThat(ended.err()).contains(reason);
  }

  @Test
  void aPartThatFailsWithoutAFailedTestIsNamed() throws Exception {
    replaceMavenByReport("");
    Path maven = folder.resolve("bin/mvn");
    Files.writeString(maven, Files.readString(maven) + "exit 1\n");
    Ended ended = run("./test", "-pl", "api");
    assertThat(ended.exitCode()).isEqualTo(1);
    assertThat(ended.out()).endsWith("Failed parts: maven\n1 passed, 0 failed, 0 skipped\n");
  }

  /**
   * The signal is sent to the whole process group, as by a terminal. It is not SIGINT, which this
   * process, and so its children, may ignore.
   */
  @Test
  void aSignalEndsTheTestsAndTheirChildProcesses() throws Exception {
    program(
        "bin/mvn",
        """
        trap 'for i in {1..10}; do echo cleaning up; sleep 0.1; done; echo done; exit' TERM
        echo ready
        sleep 600 &
        wait
        """);
    Process tests = start(List.of("setsid", "./test", "-pl", "api"));
    try (BufferedReader out = tests.inputReader()) {
      assertThat(out.readLine()).isEqualTo("test: maven starts");
      assertThat(out.readLine()).isEqualTo("ready");
      new ProcessBuilder("kill", "-TERM", "--", "-" + tests.pid()).start().waitFor();
      assertThat(out.lines()).endsWith("cleaning up", "done");
      assertThat(tests.waitFor(200, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(tests.exitValue()).isEqualTo(143);
  }

  /** The process would keep the standard output open, and its reader would wait. */
  @Test
  void aProcessThatAPartLeavesBehindIsEnded() throws Exception {
    replaceMavenByReport("");
    Path maven = folder.resolve("bin/mvn");
    Files.writeString(maven, Files.readString(maven) + "sleep 600 &\n");
    Ended ended = run("./test", "-pl", "api");
    assertThat(ended.exitCode()).as("%s", ended).isZero();
    assertThat(ended.out()).endsWith("1 passed, 0 failed, 0 skipped\n");
  }

  @Test
  void aFailedBuildFailsTheTestsAndRunsNoOthers() throws Exception {
    replaceMavenByReport("");
    program("bin/mvn", "echo broken; exit 1\n");
    Ended ended = run("./test");
    assertThat(ended.exitCode()).isEqualTo(1);
    assertThat(ended.out()).contains("broken").doesNotContain("device");
  }

  @ParameterizedTest
  @CsvSource({
    "--only nonsense, unknown part nonsense",
    "--tests, missing value of --tests",
    "clean, clean would delete what this run writes; run mvn clean before it"
  })
  void wrongOptionsOfTheTestsAreErrors(String options, String message) throws Exception {
    List<String> line = new ArrayList<>(List.of("./test"));
    line.addAll(List.of(options.split(" ")));
    Ended ended = run(line.toArray(String[]::new));
    assertThat(ended.exitCode()).isEqualTo(2);
    assertThat(ended.err()).isEqualTo("test: " + message + "; see --help\n");
    assertThat(builds()).isEmpty();
  }
}
