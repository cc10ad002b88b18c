// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import dev.ferrule.Availability;
import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.ProviderInfo;
import dev.ferrule.tools.doctor.Finding;
import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/**
 * docs/json.md lists exactly the fields that the commands print. The commands of the module lab
 * have a test of the same name there.
 */
@Tag("long")
class JsonPageTest {

  /** All messages are in one interval, and there are enough for each percentile. */
  private static final String MEASURE =
      " -n 1000 --warmup 100 --rounds 2 --interval 1h --wait adaptive --json -";

  private static final Instant START = Instant.EPOCH;

  private static JsonPage page;
  private static FerruleProcess server;
  private static String endpoint;

  /** A connection between two endpoints of this process, beside those of the server. */
  private static Path directory;

  private static Listener listener;
  private static Connection accepted;
  private static Connection client;

  @BeforeAll
  static void open(@TempDir Path place) throws Exception {
    page = JsonPage.read();
    server =
        FerruleProcess.start(
            place, "serve", "sm://" + place.resolve("bench"), "--wait", "adaptive");
    endpoint = server.output().readLine();
    directory = place.resolve("app");
    listener = Ferrule.listen(URI.create("sm://" + directory));
    CompletableFuture<Connection> connecting =
        CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
    accepted = listener.accept();
    client = connecting.join();
  }

  @AfterAll
  static void close() {
    client.close();
    accepted.close();
    listener.close();
    server.close();
  }

  private static Run run(String line) {
    Run run = Run.of(line.split(" "));
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    return run;
  }

  private static JsonObject document(String line) {
    return run(line).document();
  }

  private static JsonObject parsed(String document) {
    return new Gson().fromJson(document, JsonObject.class);
  }

  /** Whether both sides have reported their counters twice. */
  private static boolean isComplete(Run top) {
    return top.results().stream().filter(row -> row.has("sent_messages_per_s")).count() == 2;
  }

  @Test
  void ls() {
    page.assertDescribes("ferrule.ls/1", document("ls --json " + directory));
  }

  @Test
  void top() {
    Run run =
        Run.until(
            JsonPageTest::isComplete,
            "top",
            "--once",
            "--json",
            "--interval",
            "100ms",
            directory.toString());

    page.assertDescribes("ferrule.top/1", run.document());
  }

  @Test
  void providers() {
    ProviderInfo missing =
        new ProviderInfo(
            "none",
            "none",
            "none:///",
            new Availability.Unavailable("reason", "remedy"),
            List.of());

    page.assertDescribes(
        "ferrule.providers/1",
        document("providers --json"),
        parsed(ProvidersCommand.toJson(START, List.of(missing))));
  }

  @Test
  void doctor() {
    Finding missing = new Finding("none", Finding.Status.MISSING, "none", "install it");

    page.assertDescribes(
        "ferrule.doctor/1",
        document("doctor --json"),
        parsed(DoctorCommand.toJson(START, List.of(missing))));
  }

  @Test
  void latency() {
    page.assertDescribes(
        "ferrule.latency/1",
        document("latency " + endpoint + " --floor -s 64" + MEASURE),
        document("latency " + endpoint + " --calls -n 1000 --warmup 100 --json -"));
  }

  @Test
  void bandwidth() {
    page.assertDescribes(
        "ferrule.bandwidth/1",
        document("bandwidth " + endpoint + " --floor --memcpy -s 64" + MEASURE));
  }

  @Test
  void rma() {
    page.assertDescribes(
        "ferrule.rma/1", document("rma " + endpoint + " -s 4KiB --allocated" + MEASURE));
  }

  @Test
  void theSchemasAreThoseOfTheCommandsThatWriteJson() {
    Stream<String> written =
        new FerruleCommand()
            .commandLine().getSubcommands().values().stream()
                .map(CommandLine::getCommandSpec)
                .filter(command -> command.findOption("--json") != null)
                .map(CommandSpec::name);

    assertThat(page.schemas())
        .containsExactlyInAnyOrderElementsOf(
            Stream.concat(written, Stream.of("compare", "model"))
                .map(name -> "ferrule." + name + "/1")
                .toList());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ferrule.ls/1",
        "ferrule.top/1",
        "ferrule.providers/1",
        "ferrule.doctor/1",
        "ferrule.latency/1",
        "ferrule.bandwidth/1",
        "ferrule.rma/1",
        "Intervals"
      })
  void theExampleOfASectionReadsWhatItsCommandWrites(String section) throws Exception {
    JsonPage.Example example = page.example(section);
    boolean measures = example.command().endsWith(" -");
    String command =
        example.command().replace("./ferrule ", "").replace("/dev/shm/app", directory.toString());
    Run run = run(measures ? command + " -n 100 --warmup 10 --rounds 1 --wait adaptive" : command);

    assertThat(example.filtered(run.out()).lines()).isNotEmpty().noneMatch("null"::equals);
  }
}
