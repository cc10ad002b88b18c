// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.ferrule.tools.support.Affinity;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("long")
class MeasureCommandsTest {

  /**
   * A server shared by the tests of a client's output, since starting a process takes longer than
   * they do.
   */
  private static FerruleProcess common;

  private static String endpoint;

  @TempDir Path folder;

  @BeforeAll
  static void startTheCommonServer(@TempDir Path place) throws Exception {
    common =
        FerruleProcess.start(
            place, "serve", "sm://" + place.resolve("bench"), "--wait", "adaptive");
    endpoint = common.output().readLine();
  }

  @AfterAll
  static void stopTheCommonServer() {
    common.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"spin", "adaptive", "block"})
  void latencyStartsItsOwnServerAndMeasuresEverySize(String wait) {
    Run run =
        Run.of(
            "latency",
            "--size",
            "0,1,8,64,4KiB",
            "--messages",
            "300",
            "--warmup",
            "100",
            "--wait",
            wait,
            "--json",
            "-");
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    List<JsonObject> results = run.results();
    assertThat(results)
        .extracting(result -> result.get("size_bytes").getAsInt())
        .containsExactly(0, 1, 8, 64, 4096);
    assertThat(run.document().get("schema").getAsString()).isEqualTo("ferrule.latency/1");
    assertThat(run.document().get("provider").getAsString()).isEqualTo("sm");
    assertThat(run.document().get("method").getAsString()).isEqualTo("round-trip");
    assertThat(run.document().get("wait").getAsString()).isEqualTo(wait);
    for (JsonObject result : results) {
      assertThat(result.keySet()).containsExactly("size_bytes", "messages", "latency_ns");
      assertThat(result.get("messages").getAsLong()).isEqualTo(300);
      assertIsADistribution(result.getAsJsonObject("latency_ns"));
    }
  }

  @Test
  void allSizesAreThePowersOfTwoFrom8BytesTo1MiB() {
    Run run = Run.of("latency", "-a", "-n", "20", "--warmup", "5", "--rounds", "1", "--json", "-");

    assertThat(run.err()).isEmpty();
    assertThat(run.results())
        .extracting(result -> result.get("size_bytes").getAsInt())
        .containsExactlyElementsOf(
            Stream.iterate(8, size -> size <= 1 << 20, size -> 2 * size).toList());
  }

  @ParameterizedTest
  @ValueSource(strings = {"latency", "bandwidth", "rma"})
  void aMeasurementTakesADurationInsteadOfANumberOfMessages(String command) {
    Run run = Run.of(command, "-s", "64,128", "-D", "50ms", "--warmup", "100", "--json", "-");

    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.results().getFirst().get("size_bytes").getAsInt()).isEqualTo(64);
  }

  /** Without a warm-up there is no rate from which a number of messages could be computed. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "latency",
        "latency --single-receiver --wait block",
        "bandwidth",
        "bandwidth --single-receiver --connections 3 --threads 2",
        "bandwidth --unacked 7 --batch 3 --connections 2 --threads 1",
        "rma"
      })
  void eachSizeIsMeasuredAtLeastForTheDuration(String command) {
    String sizes = command.equals("rma") ? "1,64" : "0,1,2,64";
    Run run = Run.of((command + " -D 300ms --warmup 0 -i 1h --json - -s " + sizes).split(" "));

    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.results()).hasSize(4);
    for (JsonObject result : run.results()) {
      JsonObject all = result.getAsJsonArray("intervals").get(0).getAsJsonObject();
      assertThat(all.get("end_s").getAsDouble()).isGreaterThanOrEqualTo(0.3);
    }
  }

  @ParameterizedTest
  @CsvSource({"latency, messages", "bandwidth, messages", "rma, accesses"})
  void intervalsFollowEachOtherAndContainAllMessages(String command, String counted) {
    Run run =
        Run.of(
            command,
            endpoint,
            "-s",
            "64",
            "-D",
            "600ms",
            "-i",
            "0.1",
            "--wait",
            "adaptive",
            "--json",
            "-");

    assertThat(run.err()).isEmpty();
    for (JsonObject result : run.results()) {
      double end = 0;
      long sum = 0;
      for (JsonElement element : result.getAsJsonArray("intervals")) {
        JsonObject interval = element.getAsJsonObject();
        assertThat(interval.get("start_s").getAsDouble()).isEqualTo(end);
        end = interval.get("end_s").getAsDouble();
        sum += interval.get(counted).getAsLong();
        assertThat(interval.get(counted + "_per_s").getAsDouble()).isPositive();
      }
      assertThat(sum).isPositive().isEqualTo(result.get(counted).getAsLong());
    }
  }

  @ParameterizedTest
  @CsvSource({"latency, 64", "bandwidth, 64", "rma, write"})
  void intervalsAreLinesWithASumAboveTheTable(String command, String second) {
    Run run =
        Run.of(
            command,
            endpoint,
            "-s",
            "64,128",
            "-n",
            "50",
            "--rounds",
            "2",
            "--warmup",
            "10",
            "-i",
            "1h");

    assertThat(run.err()).isEmpty();
    List<String> lines = run.out().lines().toList();
    int results = command.equals("rma") ? 4 : 2; // each with one interval and a sum
    assertThat(lines).hasSize(1 + 2 * results + 1 + 1 + results);
    assertThat(lines.getFirst()).contains("interval s", "bytes", "rate/s");
    assertThat(lines.get(1)).containsPattern(" 0\\.00-\\d+\\.\\d\\d ").contains(second);
    assertThat(lines.get(2)).endsWith("  sum");
    assertThat(lines.get(1 + 2 * results)).startsWith("sm, wait ");
  }

  @Test
  void withoutAnIntervalThereIsNoLine() {
    Run run = Run.of("latency", endpoint, "-s", "8", "-n", "50", "--warmup", "10");

    assertThat(run.out()).hasLineCount(3).doesNotContain("interval", "sum");
  }

  /** The first size has results when the second one fails. */
  @Test
  void afterAnErrorStandardOutputHasNoJson() throws IOException {
    Run second = Run.of("rma", endpoint, "-s", "64,0", "-n", "5", "--warmup", "0", "--json", "-");
    assertThat(second.exitCode()).isEqualTo(2);
    assertThat(second.err()).contains("--size 0").hasLineCount(1);
    assertThat(second.out()).isEmpty();
  }

  /** A measurement would report that there is no listener. */
  @Test
  void aFileThatCannotBeWrittenIsReportedBeforeTheMeasurement() throws Exception {
    String nowhere = "sm://" + folder.resolve("nowhere");
    Path directory = Files.createDirectory(folder.resolve("plot.png"));
    for (String option : List.of("--json", "--plot")) {
      Run run = Run.of("latency", nowhere, option, directory.toString());
      assertThat(run.exitCode()).isEqualTo(2);
      assertThat(run.err())
          .startsWith("ferrule: cannot write " + directory + ": it is a directory")
          .hasLineCount(1);
    }
    Path noFonts = Files.writeString(folder.resolve("fonts.conf"), "<fontconfig/>");
    try (FerruleProcess process =
        FerruleProcess.startIn(
            Map.of(
                "FONTCONFIG_FILE",
                noFonts.toString(),
                "JDK_JAVA_OPTIONS", // the JDK caches the fonts there
                "-Duser.home=" + folder),
            folder,
            "latency",
            nowhere,
            "--plot",
            folder.resolve("new.png").toString())) {
      assertThat(process.mustEndWith(1).errors()).contains("cannot draw", "install a font");
    }
  }

  @Test
  void theProcessorsCanBeChosen() throws Exception {
    int cpu = Affinity.allowed().getLast();
    try (FerruleProcess process =
        FerruleProcess.start(
            folder, "latency", "-s", "64", "-n", "50", "-c", String.valueOf(cpu), "--pin")) {
      String output = process.mustEndWith(0).output().lines().collect(Collectors.joining("\n"));

      // One processor is not enough for both sides.
      assertThat(output).contains("not pinned");
    }
  }

  @Test
  void theFloorIsMeasuredInTheSameRun() {
    Run run =
        Run.of(
            "latency",
            endpoint,
            "--floor",
            "--size",
            "8",
            "--messages",
            "2000",
            "--rounds",
            "4",
            "--warmup",
            "20000",
            "--json",
            "-");
    assertThat(run.exitCode()).isZero();
    JsonObject result = run.results().get(0);
    assertThat(result.get("floor_ns").getAsDouble()).isPositive();
    assertThat(result.get("floor_ratio").getAsDouble()).isPositive();
    assertThat(result.get("ring_ns").getAsDouble()).isPositive();
    assertThat(result.get("ring_ratio").getAsDouble()).isPositive();
  }

  @Test
  void theRateOfABareRingIsMeasuredForTheSizesThatFit() {
    Run run =
        Run.of(
            "bandwidth",
            endpoint,
            "--floor",
            "--size",
            "0,64,100000",
            "--messages",
            "2000",
            "--rounds",
            "2",
            "--warmup",
            "10",
            "--json",
            "-");
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    List<JsonObject> results = run.results();
    for (JsonObject result : results.subList(0, 2)) {
      assertThat(result.get("floor_ns").getAsDouble()).isPositive();
      assertThat(result.get("ring_messages_per_s").getAsDouble()).isPositive();
      assertThat(result.get("ring_ratio").getAsDouble()).isNotNegative();
    }
    assertThat(results.get(2).has("ring_messages_per_s")).isFalse();
    assertThat(results.get(2).has("ring_ratio")).isFalse();
  }

  @Test
  void theTableShowsOneLineForEachSize() {
    Run run =
        Run.of(
            "latency",
            endpoint,
            "--floor",
            "--size",
            "8,64",
            "--messages",
            "1e2",
            "--warmup",
            "1e2");
    assertThat(run.exitCode()).isZero();
    List<String> lines = run.out().lines().toList();
    assertThat(lines).hasSize(4);
    assertThat(lines.get(0)).startsWith("sm, wait ");
    assertThat(lines.get(1)).contains("bytes").contains("p99.9").contains("p50 / line  p50 / ring");
    assertThat(lines.get(2).strip()).startsWith("8 ");
    assertThat(lines.get(3).strip()).startsWith("64 ");
  }

  @Test
  void callsAreTimedOneByOneForMessagesOfTwoKibibytes() {
    Run run =
        Run.of(
            "latency", endpoint, "--calls", "--messages", "500", "--warmup", "100", "--json", "-");
    assertThat(run.exitCode()).isZero();
    List<JsonObject> results = run.results();
    assertThat(results)
        .extracting(result -> result.get("call").getAsString())
        .containsExactly("send", "receive", "free", "clock");
    assertThat(results).allMatch(result -> result.get("size_bytes").getAsInt() == 2048);
    assertThat(run.document().get("method").getAsString()).isEqualTo("calls");
    results.forEach(result -> assertIsADistribution(result.getAsJsonObject("latency_ns")));
    assertThat(Run.of("latency", endpoint, "--calls", "--messages", "500", "--warmup", "100").out())
        .contains("receive");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "--batch 8",
        "--unacked 1",
        "--unacked 7",
        "--unacked 32 --batch 8",
        "--verify",
        "--wait adaptive"
      })
  void bandwidthCountsMessagesAndBytes(String options) {
    String[] arguments =
        Stream.concat(
                Stream.of(
                    "bandwidth",
                    endpoint,
                    "--size",
                    "0,5,64,100000",
                    "--messages",
                    "1001",
                    "--rounds",
                    "3",
                    "--warmup",
                    "10",
                    "--json",
                    "-"),
                options.isEmpty() ? Stream.empty() : Stream.of(options.split(" ")))
            .toArray(String[]::new);
    Run run = Run.of(arguments);
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    List<JsonObject> results = run.results();
    assertThat(results).hasSize(4);
    for (JsonObject result : results) {
      assertThat(result.get("messages").getAsLong()).isEqualTo(1001);
      assertThat(result.get("messages_per_s").getAsDouble()).isPositive();
      assertThat(result.has("latency_ns")).isFalse();
      assertThat(result.has("floor_ns")).isFalse();
    }
    JsonObject large = results.get(3);
    assertThat(large.get("bytes_per_s").getAsDouble() / large.get("messages_per_s").getAsDouble())
        .isBetween(99_000.0, 101_000.0);
    assertThat(large.get("memcpy_bytes_per_s").getAsDouble()).isPositive();
    assertThat(results.get(2).has("memcpy_bytes_per_s")).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "'--connections 3', 3, 3",
    "'--connections 3 --threads 1', 3, 1",
    "'--connections 3 --threads 2 --batch 8', 3, 2",
    "'--connections 2 --unacked 7 --verify', 2, 2",
    "'--connections 4 --threads 2 --unacked 16 --batch 4 --wait block', 4, 2",
    "'--connections 2 --wait spin --no-pin', 2, 2",
    "'--connections 2 --floor', 2, 2"
  })
  void bandwidthAddsUpTheMessagesOfSeveralConnections(
      String options, int connections, int threads) {
    Run run =
        Run.of(
            Stream.concat(
                    Stream.of(
                        "bandwidth",
                        endpoint,
                        "--size",
                        "0,64,100000",
                        "--messages",
                        "301",
                        "--rounds",
                        "3",
                        "--warmup",
                        "10",
                        "--json",
                        "-"),
                    Stream.of(options.split(" ")))
                .toArray(String[]::new));
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    List<JsonObject> results = run.results();
    assertThat(results).hasSize(3);
    assertThat(run.document().get("connections").getAsInt()).isEqualTo(connections);
    assertThat(run.document().get("threads").getAsInt()).isEqualTo(threads);
    for (JsonObject result : results) {
      assertThat(result.get("messages").getAsLong()).isEqualTo(301L * connections);
      assertThat(result.get("messages_per_s").getAsDouble()).isPositive();
    }
  }

  @Test
  void aWarningReportsThatBusyThreadsThatWouldShareProcessorsAreNotPinned() {
    Run run =
        Run.of(
            "bandwidth",
            "--connections",
            String.valueOf(Runtime.getRuntime().availableProcessors()),
            "--threads",
            "1",
            "--wait",
            "adaptive",
            "--pin",
            "--size",
            "64",
            "--messages",
            "10",
            "--warmup",
            "0");
    assertThat(run.exitCode()).isZero();
    if (Runtime.getRuntime().availableProcessors() > 1) {
      assertThat(run.err()).startsWith("ferrule: not pinned: ").hasLineCount(1);
      assertThat(run.out()).contains(" connections, not pinned");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "--single-receiver"})
  void aServerThatCannotAllocateRefusesTheRoundAndContinuesToServe(String mode) throws Exception {
    List<String> serve = new ArrayList<>(List.of("serve", "sm://" + folder.resolve("bench")));
    serve.addAll(List.of("--wait", "adaptive"));
    if (!mode.isEmpty()) {
      serve.add(mode);
    }
    try (FerruleProcess server =
        FerruleProcess.startWith(
            "-XX:MaxDirectMemorySize=4m", folder, serve.toArray(String[]::new))) {
      String endpoint = server.output().readLine();
      Run rma = Run.of("rma", endpoint, "--size", "16MiB", "--messages", "1", "--warmup", "0");
      assertThat(rma.exitCode()).isNotZero();
      assertThat(rma.err()).contains("refused", "has not enough memory");
      Run allocated = Run.of("rma", endpoint, "--allocated", "--size", "128MiB");
      assertThat(allocated.exitCode()).isNotZero();
      assertThat(allocated.err()).contains("refused", "allocatable");
      Run latency =
          Run.of("latency", endpoint, "--size", "8", "--messages", "100", "--warmup", "0");
      assertThat(latency.err()).isEmpty();
      assertThat(latency.exitCode()).isZero();
    }
  }

  @Test
  void memoryAllocatedByTheProviderIsComparedWithMemcpy() {
    Run run =
        Run.of(
            "rma",
            "--allocated",
            "--size",
            "4KiB",
            "--messages",
            "100",
            "--rounds",
            "1",
            "--warmup",
            "0");
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).contains("allocated", "memcpy");
  }

  @Test
  void theDeathOfTheServerOfSeveralThreadsIsReportedAsOneLostConnection() throws Exception {
    String address = "sm://" + folder.resolve("bench");
    try (FerruleProcess server =
        FerruleProcess.start(folder, "serve", address, "--wait", "adaptive")) {
      String endpoint = server.output().readLine();
      try (FerruleProcess client =
          FerruleProcess.startOnTerminal(
              folder,
              "bandwidth "
                  + endpoint
                  + " --connections 3 --threads 2 --wait adaptive --size 64 --warmup 0"
                  + " --messages 1e5 --rounds 1000000")) {
        client.readUntil("bandwidth: round ");
        server.kill();
        String rest = client.output().lines().collect(Collectors.joining("\n"));
        client.mustEndWith(4);
        assertThat(rest).containsOnlyOnce("ferrule: " + address).doesNotContain("Exception");
      }
    }
  }

  /** Waits for a condition while a process is alive; the test's timeout is the limit. */
  private static void awaitAlive(FerruleProcess process, BooleanSupplier condition)
      throws Exception {
    while (!condition.getAsBoolean()) {
      assertThat(process.process().isAlive()).as(process.errors()).isTrue();
      Thread.sleep(10); // polling interval
    }
  }

  @Test
  void messagesBeyondTheDefaultLimitAreMeasuredWithoutFurtherOptions() {
    Run run =
        Run.of(
            "bandwidth",
            "--size",
            "3MiB",
            "--messages",
            "5",
            "--rounds",
            "1",
            "--warmup",
            "1",
            "--json",
            "-");
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
  }

  @Test
  void resultsAreAlsoWrittenToFiles() throws Exception {
    Path json = folder.resolve("result.json");
    Path plot = folder.resolve("result.png");
    Run run =
        Run.of(
            "latency",
            endpoint,
            "--size",
            "8,64",
            "--messages",
            "100",
            "--warmup",
            "0",
            "--floor",
            "--json",
            json.toString(),
            "--plot",
            plot.toString());
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).contains("p99");
    JsonObject document = new Gson().fromJson(Files.readString(json), JsonObject.class);
    assertThat(document.getAsJsonArray("results")).hasSize(2);
    assertThat(ImageIO.read(plot.toFile()).getWidth()).isGreaterThan(500);
    Run bandwidth =
        Run.of(
            "bandwidth",
            endpoint,
            "--size",
            "64,64KiB",
            "--messages",
            "100",
            "--rounds",
            "1",
            "--warmup",
            "0",
            "--plot",
            plot.toString());
    assertThat(bandwidth.exitCode()).isZero();
  }

  @Test
  void aServerInAnotherShellServesOneClientAfterAnother() throws Exception {
    String address = "sm://" + folder.resolve("bench");
    try (FerruleProcess server =
        FerruleProcess.start(folder, "serve", address, "--wait", "adaptive")) {
      String uri = server.output().readLine();
      assertThat(uri).startsWith(address + "/");
      for (String where : List.of(uri, address)) {
        Run latency =
            Run.of(
                "latency",
                where,
                "--size",
                "64",
                "--messages",
                "100",
                "--warmup",
                "10",
                "--wait",
                "adaptive",
                "--floor");
        assertThat(latency.err()).isEmpty();
        assertThat(latency.exitCode()).isZero();
        Run bandwidth =
            Run.of(
                "bandwidth",
                where,
                "--size",
                "64",
                "--messages",
                "100",
                "--warmup",
                "10",
                "--wait",
                "block");
        assertThat(bandwidth.err()).isEmpty();
        assertThat(bandwidth.exitCode()).isZero();
      }
      Run tooLong = Run.of("bandwidth", uri, "--size", "2MiB", "--messages", "1");
      assertThat(tooLong.exitCode()).isEqualTo(2);
      assertThat(tooLong.err())
          .contains("'ferrule serve URI --option maxMessage=")
          .contains("2097152")
          .hasLineCount(1);
      server.terminate();
      server.mustEndWith(143);
      assertThat(server.errors()).isEmpty();
    }
  }

  @Test
  void aListenerThatIsNotAServerIsNamed() throws Exception {
    String address = "sm://" + folder.resolve("bench");
    try (FerruleProcess listener = FerruleProcess.start(folder, "listen", address)) {
      while (!listener.errors().startsWith("listening")) {
        Thread.onSpinWait();
      }
      Run run = Run.of("bandwidth", address);
      assertThat(run.exitCode()).isEqualTo(3);
      assertThat(run.err()).contains("'ferrule listen'").hasLineCount(1);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aServerThatDiesOrClosesInTheMiddleIsReportedAsALostConnection(boolean dies)
      throws Exception {
    String address = "sm://" + folder.resolve("bench");
    try (FerruleProcess server = FerruleProcess.startProgram(HalfwayServer.class, folder, address);
        FerruleProcess client =
            FerruleProcess.start(folder, "latency", server.output().readLine(), "--json", "-")) {
      assertThat(server.output().readLine()).isEqualTo("in the middle");
      if (dies) {
        server.kill();
      } else {
        server.process().getOutputStream().close();
      }
      client.mustEndWith(4);
      assertThat(client.errors()).startsWith("ferrule: " + address).hasLineCount(1);
      assertThat(client.output().readLine()).isNull();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void nothingIsLeftBehindWhenTheCommandIsEndedOrKilled(boolean killed) throws Exception {
    try (FerruleProcess client =
        FerruleProcess.start(
            folder, "latency", "--size", "64", "--messages", "1000000000", "--wait", "adaptive")) {
      OwnServer server = OwnServer.await(client);
      if (killed) {
        client.kill();
      } else {
        client.terminate();
        client.mustEndWith(143);
        assertThat(client.errors()).isEmpty();
      }
      server.process().onExit().join();
      assertThat(server.directory()).doesNotExist();
    }
  }

  /** The line on the terminal shows a round only after its results are stored. */
  @ParameterizedTest
  @CsvSource({"--messages 1e9 --rounds 1000000, 1000000", "--duration 24h, 86400"})
  void onATerminalALineShowsTheProgressAndCtrlCPrintsTheResultsSoFar(String amount, int rounds)
      throws Exception {
    try (FerruleProcess client =
        FerruleProcess.startOnTerminal(
            folder, "latency --size 64 --warmup 0 --wait adaptive " + amount)) {
      String seen = client.readUntil("latency: round ");
      assertThat(seen).contains("latency: starting the server");
      client.interruptDescendants();
      String rest = client.output().lines().collect(Collectors.joining("\n"));
      client.mustEndWith(130);
      assertThat(rest)
          .containsPattern("bytes +messages +min ns")
          .containsPattern("\n +64 +[1-9]")
          .containsPattern("ferrule: interrupted after round \\d+ of " + rounds + ", 64 bytes; ")
          .doesNotContain("Exception");
    }
  }

  @Test
  void ctrlCWritesNoJsonOfTheResultsSoFar() throws Exception {
    try (FerruleProcess client =
        FerruleProcess.startOnTerminal(
            folder,
            "latency --size 64 --warmup 0 --messages 1e9 --rounds 1000000 --wait adaptive"
                + " --json -")) {
      client.readUntil("latency: round ");
      client.interruptDescendants();
      String rest = client.output().lines().collect(Collectors.joining("\n"));
      client.mustEndWith(130);
      assertThat(rest).doesNotContain("{", "min ns");
    }
  }

  @Test
  void ctrlCDuringTheWarmUpReportsThatThereIsNoResult() throws Exception {
    try (FerruleProcess client =
        FerruleProcess.startOnTerminal(
            folder, "latency --size 64 --warmup 1e15 --messages 1e9 --wait adaptive")) {
      client.readUntil("latency: warming up, 64 bytes");
      client.interruptDescendants();
      String rest = client.output().lines().collect(Collectors.joining("\n"));
      client.mustEndWith(130);
      assertThat(rest)
          .contains("ferrule: interrupted, no results yet (warming up, 64 bytes)")
          .doesNotContain("min ns")
          .doesNotContain("server:");
    }
  }

  /**
   * The server that a command has started.
   *
   * @param process its process
   * @param directory the directory of its address, which the command has created
   */
  private record OwnServer(ProcessHandle process, Path directory) {

    /** Waits until the server listens. */
    static OwnServer await(FerruleProcess client) throws Exception {
      AtomicReference<OwnServer> found = new AtomicReference<>();
      awaitAlive(
          client,
          () -> {
            client.process().children().forEach(child -> of(child).ifPresent(found::set));
            return found.get() != null;
          });
      return found.get();
    }

    private static Optional<OwnServer> of(ProcessHandle process) {
      return commandLine(process).stream()
          .filter(argument -> argument.startsWith("sm://"))
          .map(address -> Path.of(URI.create(address).getPath()))
          .filter(directory -> Files.exists(directory.resolve(Long.toString(process.pid()))))
          .map(directory -> new OwnServer(process, directory))
          .findFirst();
    }

    /**
     * Returns all arguments of a process. {@link ProcessHandle.Info} may have only some of them.
     */
    private static List<String> commandLine(ProcessHandle process) {
      try {
        return List.of(
            Files.readString(Path.of("/proc", Long.toString(process.pid()), "cmdline"))
                .split("\0"));
      } catch (IOException e) {
        return List.of(); // it has ended
      }
    }
  }

  private static void assertIsADistribution(JsonObject latency) {
    assertThat(latency.keySet())
        .as("too few messages for the 99.9th percentile")
        .containsExactly("min", "p50", "p90", "p99", "max", "mean");
    assertThat(
            Stream.of("min", "p50", "p90", "p99", "max")
                .map(name -> latency.get(name).getAsDouble())
                .toList())
        .isSorted();
    assertThat(latency.get("mean").getAsDouble())
        .isBetween(latency.get("min").getAsDouble(), latency.get("max").getAsDouble());
  }
}
