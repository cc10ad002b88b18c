// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The benchmark runs, and all of its connections carry messages. */
class ConcurrencyBenchmarkTest {

  @Test
  void allConnectionsCarryMessagesWithinOneProcessAndBetweenTwo() {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();

    int code =
        ManyConnections.run(
            new PrintWriter(out, true),
            new PrintWriter(err, true),
            "--connections=3",
            "--processes=1,2",
            "--workload=echo",
            "--only=sm-adaptive,unix,aeron",
            "--rounds=1",
            "--seconds=1");

    assertThat(err.toString()).isEmpty();
    assertThat(code).isZero();
    List<String> lines = out.toString().lines().skip(1).toList();
    assertThat(lines).hasSize(6);
    assertThat(lines)
        .allSatisfy(
            line -> {
              List<String> words = List.of(line.split(" +"));
              assertThat(words).hasSize(8);
              assertThat(words.get(4)).as("connected").isEqualTo("3");
              assertThat(Long.parseLong(words.get(7))).as("the slowest's rate").isPositive();
            });
  }
}
