// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("long")
class CompareCommandTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... arguments) {
    return CompareCommand.run(new PrintWriter(out), new PrintWriter(err, true), arguments);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--only sm,zeromq | unknown zeromq; choose from floor, sm, agrona, aeron",
        "--only agrona | sm must be included",
        "--size 7 | --size must be 8 to 16384 bytes",
        "--size 17KiB | --size must be 8 to 16384 bytes",
        "--only sm,\033[2Jx | unknown \\u001b[2Jx; choose from",
        "--size many | 'many' is not a size",
        "--rounds 0 | --rounds must be at least 1",
        "--measure jitter | Invalid value for option '--measure'",
        "--provider sendrecv --measure senders-2 | --measure: sendrecv does not support",
        "--provider carrier-pigeon | Invalid value for option '--provider'"
      })
  void aMistakeIsOneLineAndExitCodeTwo(String arguments, String message) {
    assertThat(run(arguments.split(" "))).isEqualTo(2);
    assertThat(err.toString()).startsWith("compare: ").contains(message).hasLineCount(1);
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void twoProcessesEachYieldFiguresAsJson() {
    int code =
        run(
            "--quick",
            "--only=floor,sm,unix",
            "--measure=rate,latency",
            "--size=64",
            "--rounds=1",
            "--json=-");
    assertThat(err.toString()).endsWith("round 1 of 1\n");
    assertThat(code).isZero();
    JsonObject result = new Gson().fromJson(out.toString(), JsonObject.class);
    assertThat(result.get("ours").getAsString()).isEqualTo("sm");
    assertThat(result.getAsJsonArray("competitors")).hasSize(3);
    assertThat(result.getAsJsonArray("results"))
        .hasSize(5)
        .map(figure -> figure.getAsJsonObject())
        .allSatisfy(figure -> {
          assertThat(figure.get("size_bytes").getAsInt()).isEqualTo(64);
          String value =
              figure.get("measure").getAsString().equals("rate") ? "messages_per_s" : "p50_ns";
          assertThat(figure.get(value).getAsDouble()).isPositive();
        });
  }

  @Test
  void everyMeasureHasAFigureOfAllThatSupportIt() {
    int code =
        run(
            "--quick",
            "--only=sm,agrona,aeron-small,jctools,unix",
            "--measure=batch-8,senders-2,wake-up",
            "--size=64",
            "--rounds=1",
            "--json=-");
    assertThat(code).as(err.toString()).isZero();
    JsonObject result = new Gson().fromJson(out.toString(), JsonObject.class);
    assertThat(result.getAsJsonArray("results"))
        .map(figure -> figure.getAsJsonObject())
        .allSatisfy(figure -> {
          boolean isTime = figure.has("p50_ns");
          assertThat(figure.get(isTime ? "p50_ns" : "messages_per_s").getAsDouble()).isPositive();
        })
        .map(figure -> figure.get("measure").getAsString() + " " + figure.get("name").getAsString())
        .containsExactly(
            "batch-8 sm",
            "batch-8 agrona",
            "batch-8 aeron-small",
            "batch-8 unix",
            "senders-2 sm",
            "senders-2 agrona",
            "senders-2 aeron-small",
            "senders-2 jctools",
            "senders-2 unix",
            "wake-up sm",
            "wake-up unix");
  }

  @Test
  void theTableNamesCompetitorsThatSupportNoMeasure() {
    int code =
        run("--quick", "--only=sm,agrona,unix", "--measure=wake-up", "--size=8", "--rounds=1");
    assertThat(code).as(err.toString()).isZero();
    assertThat(out.toString())
        .contains("agrona: not measured: it does not support wake-up")
        .contains("wake-up of a blocked receiver, one way: ns (p99)");
  }
}
