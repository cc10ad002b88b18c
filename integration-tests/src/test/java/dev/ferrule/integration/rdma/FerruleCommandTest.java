// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.ProviderInfo;
import dev.ferrule.tools.Main;
import dev.ferrule.tools.bench.Connections;
import dev.ferrule.tools.bench.Crew;
import dev.ferrule.tools.bench.OverrunBench;
import dev.ferrule.tools.bench.Pinning;
import dev.ferrule.tools.evaluate.Catalogue;
import dev.ferrule.tools.evaluate.Experiment;
import dev.ferrule.tools.evaluate.Processors;
import dev.ferrule.tools.support.Endpoint;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The ferrule command over RDMA, each side in a process of its own. */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FerruleCommandTest {

  private static final String LITTLE = " --size 64 --messages 200 --warmup 50 --no-pin";

  /** Buffers for longer messages would only take time to register. */
  private static final String MESSAGE_LIMIT = " --option maxMessage=4KiB";

  /** A JVM starts slowly in an emulated machine. */
  private static final String PATIENT = " --option connectTimeout=120s";

  @TempDir private Path folder;

  private static ProcessBuilder command(String arguments) {
    return OtherProcess.builder("dev.ferrule.tools.Main", List.of(arguments.trim().split(" +")));
  }

  /**
   * Runs a command in this process, since another JVM takes a quarter of a minute in an emulated
   * machine; returns its standard output.
   */
  private static String run(String arguments) {
    StringWriter output = new StringWriter();
    StringWriter errors = new StringWriter();
    int code =
        Main.run(
            new PrintWriter(output), new PrintWriter(errors, true), arguments.trim().split(" +"));
    assertThat(code).as(errors.toString()).isZero();
    return output.toString();
  }

  /**
   * {@code ferrule serve} in a thread of this process, for the same reason. The other tests start
   * it in a process of its own.
   */
  private static final class Serving implements AutoCloseable {

    private final StringWriter output = new StringWriter();
    private final StringWriter errors = new StringWriter();
    private final Thread thread;

    Serving(String scheme, String options) {
      String line = options + PATIENT + " " + scheme + "://" + RdmaDevice.address() + ":0";
      thread =
          Thread.ofPlatform()
              .daemon()
              .start(
                  () ->
                      Main.run(
                          new PrintWriter(output),
                          new PrintWriter(errors, true),
                          ("serve " + line).split(" +")));
    }

    String address() {
      Task.await(
          () -> "serve listens; " + errors,
          () -> output.toString().endsWith(System.lineSeparator()));
      return output.toString().strip();
    }

    @Override
    public void close() {
      thread.interrupt(); // as it waits for the next client
      Task.await("serve ends", () -> !thread.isAlive());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "sendrecv  | --wait block"
            + "| bandwidth --connections 4 --threads 2 --unacked 16 --batch 8 --inline 0 --verify"
            + " --wait block --rounds 1",
        "sendrecv  | --single-receiver --srq --wait block"
            + "| bandwidth --connections 4 --threads 1 --wait block --verify --rounds 2",
        "magicring | --single-receiver --option mapping=plain --wait block"
            + "| bandwidth --connections 4 --threads 1 --wait block --verify --rounds 2",
      })
  void aServerIsMeasured(String scheme, String options, String measurement) {
    try (Serving server = new Serving(scheme, options + MESSAGE_LIMIT)) {
      assertThat(run(measurement + LITTLE + MESSAGE_LIMIT + PATIENT + " " + server.address()))
          .contains(scheme)
          .containsPattern("(?m)^ +64 ");
    }
  }

  @Test
  void remoteMemoryAccessIsMeasuredByTheDevice() {
    try (Serving server = new Serving("sendrecv", "--wait block" + MESSAGE_LIMIT)) {
      assertThat(
              run(
                  "rma --size 64,300KiB --rounds 1 --messages 20 --warmup 20 --no-pin "
                      + MESSAGE_LIMIT
                      + PATIENT
                      + " "
                      + server.address()))
          .containsPattern("(?m)^rdma +write +64 ")
          .containsPattern("(?m)^rdma +read +307200 ");
    }
  }

  /** A millisecond is far more than sending a message takes, even on emulated processors. */
  @ParameterizedTest
  @CsvSource({
    "off, 1000000, false, true",
    "on, 1000000, false, false",
    "off, 1000000, true, true",
  })
  void aReceiverThatIsTooSlowIsFoundOnlyWithoutCredits(
      String credits, int pauseNanos, boolean single, boolean overrun) {
    String options = "credits=" + credits + "&receives=64&rnrRetry=0&maxMessage=4KiB";
    try (Serving server =
        new Serving(
            "sendrecv",
            "--wait block --no-pin --option "
                + options.replace("&", " --option ")
                + (single ? " --single-receiver" : ""))) {
      Endpoint endpoint =
          new Endpoint(
              URI.create(server.address() + "?" + options + "&connectTimeout=120s&wait=block"),
              ConnectionOptions.builder().build());
      try (Connections connections = new Connections(endpoint, 2);
          Crew crew = new Crew(connections.clients(), 1, Pinning.OFF, problem -> {})) {
        OverrunBench.Outcome outcome = new OverrunBench(crew, 16, 32, pauseNanos).run(500, 0);
        assertThat(outcome.overrun()).isEqualTo(overrun);
        assertThat(outcome.total()).isEqualTo(1000);
        if (overrun) {
          assertThat(outcome.sent()).isBetween(64L, 999L);
        }
      }
    }
  }

  /** Returns an experiment of {@code evaluate --quick}, as defined by the command. */
  private static Experiment experiment(String scheme, String id) {
    ProviderInfo provider =
        Ferrule.providers().stream()
            .filter(candidate -> candidate.scheme().equals(scheme))
            .findFirst()
            .orElseThrow();
    return new Catalogue(
            provider, true, Processors.ofOneHost(Runtime.getRuntime().availableProcessors()))
        .experiments().stream()
            .filter(experiment -> experiment.id().equals(id))
            .findFirst()
            .orElseThrow();
  }

  /** With rnrRetry=0 a message that finds no receive posted ends the connection. */
  @Test
  void anEvaluationOnTheDeviceIsCompleteAndEveryMessageFindsAReceive() throws IOException {
    Path report = folder.resolve("report");
    run(
        "evaluate --provider sendrecv --quick --only rnr --rounds 1 --messages 300 --out "
            + report);
    JsonObject results =
        new Gson().fromJson(Files.readString(report.resolve("results.json")), JsonObject.class);
    JsonArray measured = results.getAsJsonArray("results");
    assertThat(measured).hasSize(experiment("sendrecv", "rnr").tasks().size());
    for (JsonElement element : measured) {
      JsonObject result = element.getAsJsonObject().getAsJsonObject("result");
      assertThat(result.get("messages_per_s").getAsDouble()).as("%s", element).isPositive();
      // of the whole device, and so perhaps of an earlier test: it shows that it was counted
      assertThat(result.get("rnr").getAsLong()).as("%s", element).isNotNegative();
    }
    assertThat(report.resolve("report.html")).isNotEmptyFile();
  }

  private static final String CALLS =
      "latency --simplex --calls --messages 1024 --warmup 50 --wait adaptive --no-pin --json -"
          + PATIENT;

  @Test
  void theCallsAreTimedInOneDirectionOnAPlainRing() {
    try (Serving server =
        new Serving("magicring", "--simplex --wait adaptive --no-pin --option mapping=plain")) {
      assertCalls(run(CALLS + " --size 2KiB " + server.address()));
    }
  }

  /** The test of the document that describes the magic ring: two commands. */
  @Test
  void theCallsAreTimedInOneDirectionForMessagesOf2KiB() {
    try (OtherProcess server =
        OtherProcess.start(
            command(
                "serve --simplex --wait adaptive --no-pin"
                    + PATIENT
                    + " magicring://"
                    + RdmaDevice.address()
                    + ":0"))) {
      assertCalls(run(CALLS + " --size 2KiB " + server.line()));
    }
  }

  /** Checks the results of 1024 messages of 2 KiB. */
  private static void assertCalls(String json) {
    List<String> calls = new ArrayList<>();
    for (JsonElement element : new Gson().fromJson(json, JsonArray.class)) {
      JsonObject result = element.getAsJsonObject();
      assertThat(result.get("provider").getAsString()).isEqualTo("magicring");
      assertThat(result.get("size_bytes").getAsInt()).isEqualTo(2048);
      assertThat(result.get("messages").getAsInt()).isEqualTo(1024);
      assertThat(result.getAsJsonObject("latency_ns").get("p50").getAsDouble()).isPositive();
      calls.add(result.get("call").getAsString());
    }
    assertThat(calls).containsExactly("send", "receive", "free", "clock");
  }

  @Test
  void aServerServesOneClientAfterTheOther() {
    try (OtherProcess server =
        OtherProcess.start(
            command(
                "serve --wait block --option maxMessage=4KiB --single-receiver"
                    + PATIENT
                    + " magicring://"
                    + RdmaDevice.address()
                    + ":0"))) {
      String address = server.line();
      for (String measurement : List.of("latency", "bandwidth --connections 2")) {
        assertThat(run(measurement + LITTLE + PATIENT + " --rounds 1 --wait block " + address))
            .containsPattern("(?m)^ +64 ");
      }
    }
  }

  @Test
  void aStreamArrivesByteForByte() throws IOException {
    byte[] bytes = new byte[1_000_000];
    new Random(3).nextBytes(bytes);
    Path original = Files.write(folder.resolve("original"), bytes);
    Path copy = folder.resolve("copy");
    Path errors = folder.resolve("errors");
    try (OtherProcess listener =
        OtherProcess.start(
            command("listen" + PATIENT + " sendrecv://" + RdmaDevice.address() + ":0")
                .redirectOutput(copy.toFile())
                .redirectError(errors.toFile()))) {
      while (lines(errors).isEmpty()) { // until its JVM has started
        Task.pause(Duration.ofMillis(10));
      }
      String address = lines(errors).get(0).replaceFirst("listening on ", "");

      run("send" + PATIENT + " " + address + " " + original);

      assertThat(listener.exitCode()).isZero();
    }
    assertThat(copy).hasBinaryContent(bytes);
  }

  private static List<String> lines(Path file) {
    try {
      String text = Files.readString(file, StandardCharsets.UTF_8);
      return new ArrayList<>(text.lines().filter(line -> text.endsWith("\n")).toList());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void theDoctorAndTheListOfProvidersShowTheDevice() {
    assertThat(run("doctor")).contains(RdmaDevice.name());
    assertThat(run("providers"))
        .containsPattern("sendrecv - .*\n  works on this machine")
        .containsPattern("magicring - .*\n  works on this machine");
  }
}
