// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.concurrency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.tools.support.ChildProcess;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The benchmark runs, and all of its connections carry messages. */
@Tag("long")
class ConcurrencyBenchmarkTest {

  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private final List<String> problems = new CopyOnWriteArrayList<>();

  @TempDir private Path folder;

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
        .allSatisfy(line -> {
          List<String> words = List.of(line.split(" +"));
          assertThat(words).hasSize(8);
          assertThat(words.get(4)).as("connected").isEqualTo("3");
          assertThat(Long.parseLong(words.get(7))).as("the slowest's rate").isNotNegative();
        });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--only sm | --only: unknown sm; choose from sm-adaptive, sm-block, unix, aeron",
        "--processes 1,3 | --processes must be 1 or 2, not 3",
        "--connections 0 | --connections must be at least 1, not 0",
        "--rounds 0 | --rounds must be at least 1, not 0",
        "--seconds 0 | --seconds must be at least 1, not 0",
        "--size 4 | --size must be 8 to 16384 bytes, not 4",
        "--workload dance | Invalid value for option '--workload'",
      })
  void aMistakeIsOneLineThatNamesTheValueAndTheChoices(String arguments, String message) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code =
        ManyConnections.run(new PrintWriter(out), new PrintWriter(err, true), arguments.split(" "));
    assertThat(code).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("many-connections: ")
        .contains(message)
        .endsWith("(try 'build-support/many-connections.sh --help')\n")
        .hasLineCount(1);
    assertThat(out.toString()).isEmpty();
  }

  private ChildProcess startServer() {
    List<String> arguments =
        List.of("unix", "ECHO", "64", ConcurrencySide.SERVER, folder.toString(), "1");
    ChildProcess side =
        ChildProcess.start(ConcurrencySide.class.getName(), arguments, problems::add);
    side.awaitAnswer(TIMEOUT);
    return side;
  }

  @Test
  void aSideThatFailsReportsTheReasonAndExitsWithAFailure() {
    try (ChildProcess side = startServer()) {
      side.tell("dance");
      assertThatThrownBy(() -> side.awaitAnswer(TIMEOUT)).hasMessageContaining("exit code 1");
    }
    assertThat(problems)
        .containsExactly("ferrule: java.lang.IllegalArgumentException: unknown step dance");
  }

  @Test
  void withoutConnectionsTheSlowestRateIsZero() {
    try (ChildProcess side = startServer()) {
      side.tell("measure 1");
      assertThat(side.awaitAnswer(TIMEOUT)).isEqualTo("0.0 0.0");
    }
  }
}
