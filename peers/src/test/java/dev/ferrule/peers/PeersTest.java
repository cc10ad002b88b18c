// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(120)
class PeersTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... arguments) {
    return Peers.run(new PrintWriter(out), new PrintWriter(err, true), arguments);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--only sm,zeromq | there is no zeromq; there are floor, sm, agrona, aeron",
        "--only agrona | sm has to be among them",
        "--size 7 | --size is from 8 to 16384 bytes",
        "--size 17KiB | --size is from 8 to 16384 bytes",
        "--only sm,\033[2Jx | there is no \\u001b[2Jx; there are",
        "--size many | 'many' is not a size",
        "--rounds 0 | --rounds is at least 1",
        "--provider carrier-pigeon | Invalid value for option '--provider'"
      })
  void aMistakeIsOneLineAndExitCodeTwo(String arguments, String message) {
    assertThat(run(arguments.split(" "))).isEqualTo(2);
    assertThat(err.toString()).startsWith("compare: ").contains(message).hasLineCount(1);
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void twoProcessesEachMakeFiguresForPrograms() {
    int code =
        run("--quick", "--only", "floor,sm,unix", "--size", "64", "--rounds", "1", "--json", "-");
    assertThat(err.toString()).endsWith("round 1 of 1\n");
    assertThat(code).isZero();
    JsonObject result = new Gson().fromJson(out.toString(), JsonObject.class);
    assertThat(result.get("ours").getAsString()).isEqualTo("sm");
    assertThat(result.getAsJsonArray("parties")).hasSize(3);
    assertThat(result.getAsJsonArray("figures"))
        .hasSize(5)
        .map(figure -> figure.getAsJsonObject())
        .allSatisfy(
            figure -> {
              assertThat(figure.get("size_bytes").getAsInt()).isEqualTo(64);
              String value =
                  figure.get("measure").getAsString().equals("rate") ? "messages_per_s" : "p50_ns";
              assertThat(figure.get(value).getAsDouble()).isPositive();
            });
  }
}
