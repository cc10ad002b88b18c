// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.tools.FerruleProcess;
import dev.ferrule.tools.Run;
import dev.ferrule.tools.support.Affinity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EvaluateCommandTest {

  private static final String[] LITTLE = {
    "evaluate",
    "--provider",
    "sm",
    "--quick",
    "--rounds",
    "2",
    "--messages",
    "200",
    "--only",
    "latency,calls,bandwidth",
    "--out"
  };

  @TempDir private Path folder;

  private static String[] with(String[] first, String... more) {
    String[] all = Arrays.copyOf(first, first.length + more.length);
    System.arraycopy(more, 0, all, first.length, more.length);
    return all;
  }

  /** Interrupts the first run, and continues with a second one. */
  @Test
  void anInterruptedEvaluationContinuesAndWritesItsReport() throws Exception {
    Path out = folder.resolve("evaluation");
    Path journal = out.resolve("journal.jsonl");
    long before;
    try (FerruleProcess process = FerruleProcess.start(folder, with(LITTLE, out.toString()))) {
      while (process.process().isAlive() && (!Files.exists(journal) || lines(journal) < 13)) {
        Thread.onSpinWait();
      }
      process.terminate();
      process.mustEndWith(143);
      assertThat(process.errors())
          .contains("ferrule: interrupted; results so far are in " + out)
          .doesNotContain("Exception");
      before = lines(journal);
    }
    assertThat(before).as("all of latency, and the first of calls").isBetween(13L, 39L);
    assertPartial(out, before);

    try (FerruleProcess process = FerruleProcess.start(folder, with(LITTLE, out.toString()))) {
      process.mustEndWith(0);
      assertThat(process.output().readLine()).isEqualTo(out.resolve("report.html").toString());
    }
    // 5 latency, 2 calls and 12 bandwidth points, twice each; the settings, and the machine twice
    List<String> lines = Files.readAllLines(journal);
    assertThat(lines).hasSize(1 + 2 + 2 * (5 + 2 + 12)).doesNotHaveDuplicates();
    assertThat(lines).noneMatch(line -> line.contains("\"failed\""));
    if (Affinity.allowed().size() > 1) {
      assertThat(lines)
          .filteredOn(line -> line.contains("\"experiment\":\"latency\""))
          .hasSize(10)
          .allMatch(line -> line.contains("line_before_ns") && line.contains("line_after_ns"));
    }
    assertReport(out);

    try (FerruleProcess process = FerruleProcess.start(folder, with(LITTLE, out.toString()))) {
      process.mustEndWith(0);
      assertThat(process.errors()).as("nothing to do").isEmpty();
    }
    assertThat(Files.readAllLines(journal)).isEqualTo(lines);

    assertModel(out.resolve("params.json"));
    // runs in this JVM, which has other flags
    Run different = Run.of("evaluate", "--provider", "sm", "--quick", "--out", out.toString());
    assertThat(different.exitCode()).isEqualTo(2);
    assertThat(different.err())
        .contains("with other settings: JVM flags was \"-XX:+UseSerialGC --enable-native")
        .contains("; messages was 200 and is not set; rounds was 2 and is");
  }

  /** The report shows all measurements of the journal, and how many are missing. */
  private static void assertPartial(Path out, long lines) throws IOException {
    String page = Files.readString(out.resolve("report.html"));
    long measured = lines - 2; // without the settings and the machine
    assertThat(Files.readAllLines(out.resolve("results.csv"))).hasSize(1 + (int) measured);
    long missing = 2 * (5 + 2 + 12) - measured;
    String left = " " + missing + (missing == 1 ? " measurement" : " measurements") + " to go";
    assertThat(page)
        .contains("one-way latency, p50")
        .contains("partial," + left + "; ferrule ")
        .contains("Partial:" + left)
        .doesNotContain("Trust: high");
  }

  private static long lines(Path file) throws IOException {
    return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines().count();
  }

  @Test
  void theModelOfATransportWithCardsShowsReceiveBuffersAndRings() throws IOException {
    Path params = folder.resolve("params.json");
    Files.writeString(
        params,
        "{\"providers\": [{\"provider\": \"sendrecv\", \"parameters\": {\"L\": 1900, \"G\": 0.08,"
            + " \"g_snd\": 30, \"o_snd\": 120, \"o_nsnd\": 60, \"o_nrcv\": 70, \"o_rcv\": 50,"
            + " \"g_rcv\": 16, \"o_bell\": 100}}]}");
    String[] line = {"model", "--params", params.toString(), "--nodes", "64"};
    assertThat(Run.of(line).out()).contains("sendrecv, 64 nodes", "card allows", "SRQ", "rings");
    assertThat(Run.of(with(line, "--json")).out())
        .contains("\"receive_buffers_bytes\"", "\"srq_bytes\"", "\"rings_bytes\"");
  }

  /** A file of parameters may come from elsewhere. */
  @Test
  void controlCharactersOfAParameterFileAreNotPrinted() throws IOException {
    Path params =
        Files.writeString(
            folder.resolve("params.json"),
            "{\"providers\": [{\"provider\": \"x\\u001b[2J\", \"note\": \"y\\u001b[2J\","
                + " \"parameters\": {\"L\": 1, \"G\": 1, \"g_snd\": 1, \"o_snd\": 1, \"o_nsnd\": 1,"
                + " \"o_nrcv\": 1, \"o_rcv\": 1, \"g_rcv\": 1}}]}");
    Run run = Run.of("model", "--params", params.toString(), "--nodes", "64");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("[2J, 64 nodes").doesNotContain("\033");
  }

  private static void assertReport(Path out) throws Exception {
    String page = Files.readString(out.resolve("report.html"));
    DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(out.resolve("report.html").toFile());
    assertThat(page)
        .contains("sm: latency over message size", "bottleneck")
        // after few rounds on a busy machine, the model may be too far off to be drawn
        .containsAnyOf("model: p50", "The model is not shown where it is off")
        .contains("sm: the model", "o_nrcv")
        .contains("one-way latency, p50", "one-way latency, p99", "peak bytes/s", "Trust: ")
        .contains("sm has no option 'rnrRetry'")
        .contains("topology", "JVM flags", "container limits", "Measured from")
        .contains(
            "<td>sm unacked, sm batch, sm threads, sm single-receiver, sm paths, sm rma, sm rma-copy"
                + "</td><td>not measured yet, or excluded by --only</td>")
        .doesNotContain("sm: rate over threads", "partial,", "Partial:")
        .doesNotContain("://");
    for (String plot : List.of("sm-latency", "sm-calls", "sm-bandwidth")) {
      Path file = out.resolve("plots").resolve(plot + ".svg");
      DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
    }
    assertThat(Files.readAllLines(out.resolve("results.csv")))
        .hasSize(1 + 2 * (5 + 2 + 12))
        .first()
        .asString()
        .startsWith("experiment,provider,kind,size_bytes,connections,threads,unacked,batch,wait,");
    assertThat(Files.readString(out.resolve("results.json"))).contains("\"machine\"");
  }

  private static void assertModel(Path params) {
    Run table = Run.of("model", "--params", params.toString(), "--nodes", "64");
    assertThat(table.exitCode()).as(table.err()).isZero();
    assertThat(table.out())
        .contains("sm, 64 nodes")
        .contains("N:1", "N:N", "lines allow", "a ring of 1.04 MiB")
        .doesNotContain("SRQ", "card");
    Run json = Run.of("model", "--params", params.toString(), "--nodes", "64", "--json");
    assertThat(json.out()).contains("\"shared_bytes\"", "\"bottleneck\"");
    Run none =
        Run.of("model", "--params", params.toString(), "--nodes", "64", "--provider", "sendrecv");
    assertThat(none.exitCode()).isEqualTo(2);
    assertThat(none.err()).contains("no parameters for 'sendrecv'; it has sm");
  }

  @Test
  void theListShowsAllExperimentsAndWhySomeAreSkipped() {
    Run run = Run.of("evaluate", "--list", "--provider", "sm,sendrecv,magicring");
    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .containsPattern("(?m)^sm +latency +latency over message size$")
        .containsPattern("(?m)^sm +rnr +skipped: sm has no option 'rnrRetry'")
        .containsPattern("(?m)^sendrecv +rnr +no retransmission")
        .containsPattern("(?m)^magicring +magic +bandwidth of a ring");
    assertThat(run.out().lines()).hasSize(3 * 19);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--provider sm | no folder for the report; set one, such as --out",
        "--provider nosuch --out x | no provider 'nosuch'; installed: ",
        "--provider sm --only nosuch --out x | no experiment 'nosuch'; choose from latency,",
        "--provider sm --rounds 0 --out x | --rounds and --messages must be at least 1",
        "--provider sm --out /proc/nowhere | cannot create the folder /proc/nowhere",
        "--out x --token 12345678 | --token is for --server",
        "--out x --server 127.0.0.1:1 --provider sm | sm does not connect hosts",
        "--out x --server 127.0.0.1:1 --peers | are for servers on this host",
      })
  void mistakesAreReportedInOneLine(String arguments, String message) {
    Run run = Run.of(("evaluate " + arguments.strip()).split(" +"));
    assertThat(run.exitCode()).isNotZero();
    assertThat(run.err().lines()).hasSize(1);
    assertThat(run.err()).contains(message);
  }

  @Test
  void aTokenThatIsTooShortEndsTheServer() {
    Run run = Run.of("serve", "--for-evaluation", "127.0.0.1:0", "--token", "short");
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("a token of at least 8 characters").hasLineCount(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--nodes 64 | --params",
        "--params none.json --nodes 64 | none.json: no such file",
        "--params none.json --nodes 1 | --nodes must be 2 to 1000000",
        "--params none.json --nodes 4 --batch 65 | --batch must be at least 1 and at most",
        "--params none.json --nodes 4 --max-message 64 | --max-message must be at least the",
        "--params none.json --nodes 4 --threads 0 | --threads must be at least 1",
      })
  void mistakesAboutTheModelAreReportedInOneLine(String arguments, String message) {
    Run run = Run.of(("model " + arguments.strip()).split(" +"));
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err().lines()).hasSize(1);
    assertThat(run.err()).contains(message);
  }
}
