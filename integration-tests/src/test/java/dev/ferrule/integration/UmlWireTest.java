// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The wire between two machines of User-Mode Linux. Scripts replace the machines. */
class UmlWireTest {

  private static final Path WIRE =
      Path.of("").toAbsolutePath().getParent().resolve("build-support/rxe/uml-wire.pl");

  private static final String MACHINE =
      """
      #!/usr/bin/env bash
      set -euo pipefail
      number=$2 wire=$3 folder=$4
      put() { printf %s "$1" >&"$wire"; }
      take() { dd bs=65536 count=1 status=none <&"$wire"; }
      await() { until "$@"; do sleep 0.01; done; }
      ask() {
        echo "$1" >"$folder/question.new"
        mv "$folder/question.new" "$folder/question"
        await [ -e "$folder/answer" ]
        cat "$folder/answer"
        rm "$folder/answer"
      }
      ended() { ! kill -0 "$1" 2>/dev/null; }
      echo $$ >"$folder/pid.new" && mv "$folder/pid.new" "$folder/pid"
      """;

  @TempDir private Path folder;

  /** The folders of the machines. The output of a machine's script is in the file "out" there. */
  private Path first;

  private Path second;

  @BeforeEach
  void createTheFoldersOfTheMachines() throws IOException {
    first = Files.createDirectory(folder.resolve("1"));
    second = Files.createDirectory(folder.resolve("2"));
  }

  private Process start(String first, String second) throws IOException {
    Path machine = folder.resolve("machine");
    Files.writeString(
        machine,
        MACHINE
            + "exec >\"$folder/out\"\nif [ $number = 1 ]; then\n"
            + first
            + "else\n"
            + second
            + "fi\n");
    assertThat(machine.toFile().setExecutable(true)).isTrue();
    return new ProcessBuilder(
            "perl", WIRE.toString(), machine.toString(), this.first.toString(), this.second + "")
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(folder.resolve("err").toFile())
        .start();
  }

  private int run(String first, String second) throws Exception {
    Process process = start(first, second);
    try {
      assertThat(process.waitFor(90, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroy();
    }
    return process.exitValue();
  }

  private static boolean isAlive(Path machine) throws IOException {
    long pid = Long.parseLong(Files.readString(machine.resolve("pid")).strip());
    return ProcessHandle.of(pid).isPresent();
  }

  @Test
  void packetsPassInBothDirectionsUntilTheFirstMachineHasEnded() throws Exception {
    int code =
        run(
            """
            put a
            put bb
            take
            exit 7
            """,
            """
            [ "$(take)" = a ] && [ "$(take)" = bb ] && put ccc
            exec sleep 100
            """);
    assertThat(code).isEqualTo(7);
    assertThat(first.resolve("out")).hasContent("ccc");
    assertThat(isAlive(second)).isFalse();
  }

  @Test
  void aCutWirePassesNoPackets() throws Exception {
    int code =
        run(
            """
            ask down
            put lost
            ask down # the first answer may precede the reading of the packet, this one follows it
            ask up
            put kept
            await grep -qs kept "${folder%1}2/out"
            """,
            """
            take
            exec sleep 100
            """);
    assertThat(code).isZero();
    assertThat(first.resolve("out")).hasContent("done\ndone\ndone");
    assertThat(second.resolve("out")).hasContent("kept");
  }

  @Test
  void aMachineCanKillTheOther() throws Exception {
    int code =
        run(
            """
            await [ -e "${folder%1}2/pid" ]
            ask kill-peer
            ended "$(<"${folder%1}2/pid")"
            """,
            "exec sleep 100\n");
    assertThat(code).isZero();
    assertThat(folder.resolve("err")).isEmptyFile();
  }

  @Test
  void theRunEndsIfTheFirstMachineKillsItself() throws Exception {
    int code =
        run(
            """
            await [ -e "${folder%1}2/pid" ]
            ask kill-self
            """,
            "exec sleep 100\n");
    assertThat(code).isEqualTo(128 + 9);
    assertThat(isAlive(second)).isFalse();
  }

  @Test
  void anUnknownRequestIsAnsweredWithItsName() throws Exception {
    assertThat(run("ask dance\n", "exec sleep 100\n")).isZero();
    assertThat(first.resolve("out")).hasContent("unknown request dance");
  }

  @Test
  void theEarlyEndOfTheSecondMachineIsReported() throws Exception {
    int code =
        run(
            """
            await [ -e "${folder%1}2/pid" ]
            await ended "$(<"${folder%1}2/pid")"
            put unread
            """,
            "exit 3\n");
    assertThat(code).isZero();
    assertThat(folder.resolve("err")).hasContent("uml: host 2's command ended with 3");
  }

  @Test
  void aMachineThatDoesNotReadDelaysNoRequest() throws Exception {
    int code =
        run(
            """
            (for ((i = 0; i < 1000; i++)); do put "$(printf %4096s)"; done) & # waits for room
            ask kill-peer
            wait
            """,
            "exec sleep 100\n");
    assertThat(code).isZero();
    assertThat(first.resolve("out")).hasContent("done");
  }

  @Test
  void theRunFailsIfTheSecondMachineDoesNotBoot() throws Exception {
    assertThat(run("exec sleep 100\n", "exit 125\n")).isEqualTo(125);
  }

  @Test
  void aSignalEndsBothMachines() throws Exception {
    Process process = start("take\n", "take\n");
    try {
      while (!Files.exists(first.resolve("pid")) || !Files.exists(second.resolve("pid"))) {
        Thread.sleep(10);
      }
    } finally {
      process.destroy();
    }
    assertThat(process.waitFor(90, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(128 + 15);
    assertThat(isAlive(first)).isFalse();
    assertThat(isAlive(second)).isFalse();
  }
}
