// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.tools.Main;
import dev.ferrule.tools.bench.Connections;
import dev.ferrule.tools.bench.OverrunBench;
import dev.ferrule.tools.bench.Pinning;
import dev.ferrule.tools.bench.SenderThreads;
import dev.ferrule.tools.support.ConfiguredAddress;
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

  /** Buffers for longer messages would take time to register. */
  private static final String MESSAGE_LIMIT = " --option maxMessage=4KiB";

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

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "sendrecv  | --wait block"
            + "| bandwidth --connections 4 --threads 2 --unacked 16 --batch 8 --inline 0 --verify"
            + " --wait block --rounds 1 --interval 1h",
        "sendrecv  | --single-receiver --srq --wait block"
            + "| bandwidth --connections 4 --threads 1 --wait block --verify --rounds 2",
        "magicring | --single-receiver --option mapping=plain --wait block"
            + "| bandwidth --connections 4 --threads 1 --wait block --verify --rounds 2",
      })
  void aServerIsMeasured(String scheme, String options, String measurement) {
    try (Serving server = Serving.start(scheme, options + MESSAGE_LIMIT)) {
      assertThat(run(measurement + LITTLE + MESSAGE_LIMIT + Serving.PATIENT + " " + server.uri()))
          .contains(scheme)
          .containsPattern("(?m)^ +64 ")
          .matches(output -> output.contains("  sum\n") == measurement.contains("--interval"));
    }
  }

  @Test
  void remoteMemoryAccessIsMeasuredByTheDevice() {
    try (Serving server = Serving.start("sendrecv", "--wait block" + MESSAGE_LIMIT)) {
      assertThat(
              run(
                  "rma --size 64,300KiB --rounds 1 --interval 1h --messages 20 --warmup 20 --no-pin "
                      + MESSAGE_LIMIT
                      + Serving.PATIENT
                      + " "
                      + server.uri()))
          .containsPattern("(?m)^write +0\\.00-[0-9.]+ +64 +20 .*  sum$")
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
        Serving.start(
            "sendrecv",
            "--wait block --no-pin --option "
                + options.replace("&", " --option ")
                + (single ? " --single-receiver" : ""))) {
      ConfiguredAddress endpoint =
          new ConfiguredAddress(
              URI.create(server.uri() + "?" + options + "&connectTimeout=120s&wait=block"),
              ConnectionOptions.builder().build());
      try (Connections connections = new Connections(endpoint, 2);
          SenderThreads senderThreads =
              new SenderThreads(connections.clients(), 1, Pinning.OFF, problem -> {})) {
        OverrunBench.Outcome outcome =
            new OverrunBench(senderThreads, 16, 32, pauseNanos).run(500, 0);
        assertThat(outcome.overrun()).isEqualTo(overrun);
        assertThat(outcome.total()).isEqualTo(1000);
        if (overrun) {
          assertThat(outcome.sent()).isBetween(64L, 999L);
        }
      }
    }
  }

  private static final String CALLS =
      "latency --simplex --calls --messages 1024 --warmup 50 --wait adaptive --no-pin --json -"
          + Serving.PATIENT;

  @Test
  void theCallsAreTimedInOneDirectionOnAPlainRing() {
    try (Serving server =
        Serving.start("magicring", "--simplex --wait adaptive --no-pin --option mapping=plain")) {
      assertCalls(run(CALLS + " --size 2KiB " + server.uri()));
    }
  }

  /** The test that docs/sources.md lists for the magic ring, by two commands. */
  @Test
  void theCallsAreTimedInOneDirectionForMessagesOf2KiB() {
    try (OtherProcess server =
        OtherProcess.start(
            command(
                "serve --simplex --wait adaptive --no-pin"
                    + Serving.PATIENT
                    + " magicring://"
                    + RdmaDevice.address()
                    + ":0"))) {
      assertCalls(run(CALLS + " --size 2KiB " + server.line()));
    }
  }

  /** Checks the results of 1024 messages of 2 KiB. */
  private static void assertCalls(String json) {
    List<String> calls = new ArrayList<>();
    JsonObject document = new Gson().fromJson(json, JsonObject.class);
    assertThat(document.get("provider").getAsString()).isEqualTo("magicring");
    assertThat(document.get("method").getAsString()).isEqualTo("calls-one-way");
    for (JsonElement element : document.getAsJsonArray("results")) {
      JsonObject result = element.getAsJsonObject();
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
                    + Serving.PATIENT
                    + " magicring://"
                    + RdmaDevice.address()
                    + ":0"))) {
      String address = server.line();
      for (String measurement : List.of("latency", "bandwidth --connections 2")) {
        assertThat(
                run(measurement + LITTLE + Serving.PATIENT + " --rounds 1 --wait block " + address))
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
            command("listen" + Serving.PATIENT + " sendrecv://" + RdmaDevice.address() + ":0")
                .redirectOutput(copy.toFile())
                .redirectError(errors.toFile()))) {
      while (lines(errors).isEmpty()) { // until its JVM has started
        Task.pause(Duration.ofMillis(10));
      }
      String address = lines(errors).get(0).replaceFirst("listening on ", "");

      run("send" + Serving.PATIENT + " " + address + " " + original);

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
