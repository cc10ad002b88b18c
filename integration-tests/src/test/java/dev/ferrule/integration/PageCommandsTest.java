// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.integration.Rehearsal.Call;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every command in a block of a page exists, is called with options and values that it has, and is
 * run by a test: here, if it needs only this host, with fewer messages and rounds; on a device by
 * {@code PageCommandsDeviceTest}; or by the test that {@link #RUN_BY} names.
 */
@Tag("long")
class PageCommandsTest {

  /** The beginnings of commands that another test runs, after their page, and that test. */
  private static final Map<String, String> RUN_BY =
      Map.ofEntries(
          Map.entry("README.md: ./release ", "ReleaseTest"),
          Map.entry("docs/guide-sm.md: docker volume create ", "UsersTest"),
          Map.entry("docs/guide-sm.md: docker run -d --name server ", "ComposeExampleTest"),
          Map.entry("docs/guide-sm.md: docker run -d --name client ", "ComposeExampleTest"),
          Map.entry("docs/guide.md: ./ferrule evaluate --server ", "TwoHostsEvaluationTest"),
          Map.entry("docs/guide.md: ./with-rxe ./ferrule evaluate ", "ExperimentsTest"),
          Map.entry("docs/guide.md: ./ferrule evaluate --quick --peers ", "PeerExperimentsTest"),
          Map.entry("docs/install.md: ./dist tar", "DistTest"),
          Map.entry("docs/install.md: tar ", "DistTest"),
          Map.entry("docs/install.md: dpkg ", "DistContainersTest"),
          Map.entry("docs/install.md: docker ", "DistContainersTest"),
          Map.entry("docs/install.md: ln ", "DistTest"),
          Map.entry("docs/install.md: ferrule-*/bin/ferrule doctor", "DistTest"),
          Map.entry("docs/install.md: cat ferrule-", "DistContainersTest"),
          Map.entry("docs/json.md: ./ferrule ", "JsonPageTest"),
          Map.entry("docs/json.md: ./compare ", "JsonPageTest"),
          Map.entry("docs/performance.md: ./compare", "CompareCommandTest"),
          Map.entry("docs/performance.md: ./ferrule evaluate ", "PeerExperimentsTest"),
          Map.entry(
              "docs/performance.md: build-support/many-connections.sh", "ConcurrencyBenchmarkTest"),
          Map.entry("docs/rdma.md: ./ferrule doctor --rdma", "RdmaStepsTest"),
          Map.entry(
              "docs/rdma.md: FERRULE_TOKEN=$(openssl rand -hex 16) ", "TwoHostsEvaluationTest"),
          Map.entry("docs/rdma.md: ./ferrule serve --for-evaluation ", "TwoHostsEvaluationTest"),
          Map.entry("docs/rdma.md: export FERRULE_TOKEN=", "TwoHostsEvaluationTest"),
          Map.entry("docs/rdma.md: ./ferrule evaluate --server ", "TwoHostsEvaluationTest"),
          Map.entry("docs/security.md: docker run --user ", "UsersTest"),
          Map.entry("docs/verbs.md: ./with-rxe bash -c 'java ", "VerbsExampleTest"),
          Map.entry("examples/README.md: ./with-rxe bash -c 'java ", "VerbsExampleTest"),
          Map.entry("examples/README.md: java ", "ExamplesTest"),
          Map.entry("examples/README.md: curl ", "ExamplesTest"),
          Map.entry("examples/README.md: docker compose ", "ComposeExampleTest"));

  /** The beginnings of commands that no test runs, after their page, and why. */
  private static final Map<String, String> NOT_RUN =
      Map.of(
          "docs/rdma.md: mkdir /sys/", "configures the card mlx5_0",
          "docs/rdma.md: ./with-rxe --two bash -c ", "boots two machines: TwoHostsTest has them",
          "docs/rdma.md: echo 104 > /sys/", "configures the card mlx5_0",
          "docs/guide.md: ./with-rxe --with-tools ",
              "perftest takes minutes on emulated processors",
          "docs/performance.md: ./with-rxe --with-tools ",
              "perftest takes minutes on emulated processors",
          "docs/install.md: scp ", "needs a second host; DistTest runs the archive's command",
          "docs/install.md: ssh ", "needs a second host",
          "docs/install.md: ferrule-*/bin/ferrule latency ", "needs a second host",
          "examples/README.md: ./mvnw ", "./test has built the module by the same phase of Maven");

  private static PageCommandCheck check;

  @TempDir Path folder;

  private Rehearsal rehearsal;

  static List<String> pages() throws IOException {
    return PageCommand.blocks().stream().map(block -> block.getFirst().page()).distinct().toList();
  }

  @BeforeAll
  static void findTests() throws IOException {
    check = new PageCommandCheck();
  }

  @BeforeEach
  void prepare() throws IOException {
    rehearsal = new Rehearsal(folder);
  }

  @AfterEach
  void end() throws Exception {
    rehearsal.close();
  }

  private static List<List<PageCommand>> blocksOf(String page) throws IOException {
    return PageCommand.blocks().stream()
        .filter(block -> block.getFirst().page().equals(page))
        .toList();
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everyCommandExistsAndHasItsOptions(String page) throws Exception {
    for (List<PageCommand> block : blocksOf(page)) {
      for (PageCommand command : block) {
        for (Call call : rehearsal.calls(command, block.getFirst().line())) {
          check.check(command, call);
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everyCommandIsRun(String page) throws Exception {
    for (List<PageCommand> block : blocksOf(page)) {
      List<PageCommand> here = new ArrayList<>();
      for (PageCommand command : block) {
        List<Call> calls = rehearsal.calls(command, block.getFirst().line());
        if (runsHere(command, calls)) {
          here.add(command);
        } else {
          assertThat(isRunElsewhere(command, calls))
              .as(
                  "%s: no test runs this. If it is a command, let a test run it and name that in"
                      + " PageCommandsTest.RUN_BY, or the reason in NOT_RUN; if it is a formula or"
                      + " a diagram, fence it as ```text",
                  command.place())
              .isTrue();
        }
      }
      try (PageBlock run = new PageBlock(folder, rehearsal, block.getFirst().line())) {
        run.run(here);
      }
    }
  }

  @Test
  void theTestsOfTheTableExistAndNoEntryIsLeftOver() throws Exception {
    assertThat(RUN_BY.values()).allMatch(check::isTestClass);
    List<PageCommand> commands = PageCommand.blocks().stream().flatMap(List::stream).toList();
    assertThat(Stream.concat(RUN_BY.keySet().stream(), NOT_RUN.keySet().stream()))
        .allSatisfy(
            key -> assertThat(commands).anyMatch(command -> described(command).startsWith(key)));
    assertThat(NOT_RUN).as("exceptions").hasSizeLessThan(10);
  }

  private static String described(PageCommand command) {
    return command.page() + ": " + command.text();
  }

  private static Optional<String> find(Map<String, String> table, PageCommand command) {
    return table.entrySet().stream()
        .filter(entry -> described(command).startsWith(entry.getKey()))
        .map(Map.Entry::getValue)
        .findFirst();
  }

  /** Returns whether a command runs in this test: over shared memory, without a device. */
  private static boolean runsHere(PageCommand command, List<Call> calls) {
    return !calls.isEmpty()
        && find(RUN_BY, command).isEmpty()
        && find(NOT_RUN, command).isEmpty()
        && calls.stream()
            .allMatch(call ->
                !call.onDevice()
                    && Set.of("ferrule", "compare", "java", "javac", "jfr").contains(call.program())
                    && !PageCommand.needsDevice(call.arguments()));
  }

  private static boolean isRunElsewhere(PageCommand command, List<Call> calls) {
    return find(RUN_BY, command).isPresent()
        || find(NOT_RUN, command).isPresent()
        || !calls.isEmpty()
            && calls.stream()
                .allMatch(call ->
                    // the tests that ./test names are run by ./test
                    Set.of("test", "benchmark", "with-rxe").contains(call.program())
                        || call.program().equals("ferrule")
                            && PageCommand.isRunOnDevice(call.arguments(), call.onDevice()));
  }
}
