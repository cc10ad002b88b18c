// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.lab.compare.competitor.Measure;
import dev.ferrule.lab.evaluate.Evaluation;
import dev.ferrule.lab.evaluate.Experiment;
import dev.ferrule.lab.evaluate.Servers;
import dev.ferrule.tools.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the experiments of {@code ferrule evaluate --peers}. */
@Tag("long")
class PeerExperimentsTest {

  @TempDir private Path folder;

  @Test
  void theCommandListsThemWithPeers() {
    assertThat(list("--peers"))
        .contains(
            "peers-latency", "peers-rate", "peers-batch-8", "peers-senders-2", "peers-wake-up");
    assertThat(list()).contains("latency").doesNotContain("peers-");
  }

  private static String list(String... more) {
    List<String> arguments = new ArrayList<>(List.of("evaluate", "--provider", "sm", "--list"));
    arguments.addAll(List.of(more));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code =
        Main.run(
            new PrintWriter(out), new PrintWriter(err, true), arguments.toArray(String[]::new));
    assertThat(code).as(err.toString()).isZero();
    return out.toString();
  }

  @Test
  void theReportShowsAllCompetitorsAndTheirRatios() throws IOException {
    Experiment experiment =
        PeerExperiments.of(
            ComparedProvider.SM, Measure.LATENCY, new Schedule(List.of(64), 2, 5, 20));
    List<String> problems = new ArrayList<>();
    evaluate(experiment, problems);
    pretendThatTheProcessorsStayed();
    Path report = evaluate(experiment, problems); // from the journal

    assertThat(problems).noneMatch(problem -> problem.contains("failed"));
    assertThat(Files.readString(report))
        .contains("latency compared with others, over message size")
        .contains("sm / floor", "sm / agrona", "sm / aeron", "sm / unix", "sm / tcp")
        .contains(
            "The ratio of the median of sm to that of each competitor (below 1: sm is faster)");
    assertThat(Files.readAllLines(folder.resolve("journal.jsonl")))
        .filteredOn(line -> line.contains("\"competitor\":\"agrona\""))
        .hasSize(2)
        .allMatch(line -> line.contains("p50_ns"));
  }

  private Path evaluate(Experiment experiment, List<String> problems) throws IOException {
    return new Evaluation(
            folder,
            new dev.ferrule.lab.evaluate.Effort(true, 2, OptionalLong.empty()),
            List.of("sm"),
            Set.of(),
            List.of(experiment),
            "test")
        .run(Set.of("peers-latency"), Servers.onThisHost(Optional.empty()), problems::add)
        .report();
  }

  /** A hypervisor may migrate them, and without a round that counts a competitor has no ratio. */
  private void pretendThatTheProcessorsStayed() throws IOException {
    Path journal = folder.resolve("journal.jsonl");
    String measured = Files.readString(journal);
    Files.writeString(
        journal, measured.replaceAll("\"line_(before|after)_ns\":[^,}]*", "\"line_$1_ns\":50.0"));
  }
}
