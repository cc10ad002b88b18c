// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * How {@code with-rxe} reads the events of its virtual machines. A script replaces QEMU: it writes
 * the events as QEMU and a slow machine may write them.
 */
class WithRxeEventsTest {

  private static final Path PARTS =
      Path.of("").toAbsolutePath().getParent().resolve("build-support");

  /**
   * Runs machines as {@code with-rxe} does: two if $2 is "yes", otherwise one. If an event is lost,
   * the exit code is 125 or 124.
   */
  private static final String WITH_RXE =
      """
      set -euo pipefail
      parts=$1/rxe vm_parts=$1/vm two=$2 run=$3
      say() { echo "with-rxe: $*" >&2; }
      explain() { say "$*"; }
      . "$parts/machine.sh"
      . "$parts/wire.sh"
      . "$vm_parts/vm.sh"
      BOOT_LIMIT=200 time_limit=240 GRACE=100
      accelerator=kvm kernel=none initramfs=none memory=64 cpus=1 no_repeat='' verbose=yes
      command=(true) environment=(A=b) keep=() caller_path=$PATH
      run_in_vm
      exit "$result"
      """;

  private static final String QEMU =
      """
      #!/usr/bin/env bash
      set -euo pipefail
      [[ $* =~ path=control([12]) ]]
      . "job${BASH_REMATCH[1]}/settings"
      exec >"control$host.out" 6>"out$host" 7>"err$host"
      # Writes byte by byte; a line takes about a second, longer than a tick.
      slowly() {
        local i
        for ((i = 0; i < ${#1}; i++)); do
          printf %s "${1:i:1}"
          sleep 0.1
        done
      }
      drained() { printf '\\0%s\\0' "$mark" | tee /dev/fd/6 >&7; }
      await() { until [ -e "$1" ]; do sleep 0.01; done; }
      # Machine 2 may connect to machine 1.
      perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => "wire", Listen => 1)' || true
      """;

  @TempDir private Path folder;

  /** The result of the run. */
  private record Ended(int exitCode, String err) {}

  @BeforeEach
  void createTheFolderOfTheRun() throws IOException {
    Files.createDirectory(folder.resolve("run"));
  }

  /** Runs machines that execute {@code script}. */
  private Ended run(boolean two, String script) throws Exception {
    Path qemu = folder.resolve("qemu-system-x86_64");
    Files.writeString(qemu, QEMU + script + "\nexec sleep 100\n");
    assertThat(qemu.toFile().setExecutable(true)).isTrue();
    String run = folder.resolve("run").toString();
    return start("bash", "-c", WITH_RXE, "with-rxe", PARTS.toString(), two ? "yes" : "", run);
  }

  private Ended start(String... command) throws Exception {
    Path err = folder.resolve("err");
    ProcessBuilder builder = new ProcessBuilder(new ArrayList<>(List.of(command)));
    builder.redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(err.toFile());
    builder.environment().put("PATH", folder + ":" + System.getenv("PATH"));
    Process process = builder.start();
    try {
      process.getOutputStream().close();
      assertThat(process.waitFor(90, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    return new Ended(process.exitValue(), Files.readString(err, StandardCharsets.ISO_8859_1));
  }

  @Test
  void aLineThatArrivesByteByByteIsRead() throws Exception {
    Ended ended =
        run(
            false,
            """
            slowly $'1 started\\n'
            slowly $'1 ended 7\\n'
            drained
            """);
    assertThat(ended.exitCode()).as(ended.err()).isEqualTo(7);
    assertThat(ended.err()).contains("machine 1 has booted after");
  }

  @Test
  void linesOfTwoMachinesThatArriveInAlternatingPiecesAreRead() throws Exception {
    Ended ended =
        run(
            true,
            """
            case $host in
              1)
                printf '1 st'; : >piece1; await piece2
                printf 'arted\\n1 en'; : >piece3; await piece4
                # the lines of each machine are read by a process of its own
                until grep -q 'machine 2 has booted' ../err; do sleep 0.01; done
                printf 'ded 5\\n'
                ;;
              2)
                await piece1; printf '2 sta'; : >piece2
                await piece3; printf 'rted\\n2 ended 9\\n2 crashed a'; : >piece4
                ;;
            esac
            drained
            """);
    assertThat(ended.exitCode()).as(ended.err()).isEqualTo(5);
    assertThat(ended.err())
        .contains("machine 1 has booted after", "machine 2 has booted after")
        .doesNotContain("unknown event");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "arted",
        "",
        "1",
        "1 arted",
        "1 started 3",
        "2 started",
        "3 started",
        "11 started",
        "1  started",
        "1 ended",
        "1 ended x",
        "1 closed in",
        "1 wire up"
      })
  void anUnknownLineEndsTheRun(String line) throws Exception {
    Ended ended = run(false, "printf '1 started\\n%s\\n' '" + line + "'");
    assertThat(ended.exitCode()).as(ended.err()).isEqualTo(125);
    assertThat(ended.err())
        .contains(
            "the virtual machine failed: unknown event "
                + (line.isEmpty() ? "''" : line.replace(" ", "\\ "))
                + "\n");
  }

  @Test
  void anUnknownLineIsPrintedEscaped() throws Exception {
    Ended ended = run(false, "printf '1 started\\033[2J\\377\\n'");
    assertThat(ended.exitCode()).as(ended.err()).isEqualTo(125);
    assertThat(ended.err()).contains("unknown event $'1 started\\E[2J\\377'\n");
  }

  @Test
  void aNameThatIsInvalidInTheLocaleIsAccepted() throws Exception {
    Ended ended =
        run(false, "printf '1 started\\n1 crashed \\377 of SIGABRT\\n1 ended 6\\n'; drained");
    assertThat(ended.exitCode()).as(ended.err()).isEqualTo(6);
  }

  @Test
  void linesThatArriveWhileTheSecondMachineEndsAreRead() throws Exception {
    Ended ended =
        run(
            true,
            """
            printf '%s started\\n' "$host"
            if [ "$host" = 1 ]; then
              until grep -q 'machine 2 has booted' ../err; do sleep 0.1; done
              printf '1 ended 4\\n'
            else
              read -r request <control2.in
              [ "$request" = "signal TERM" ]
              slowly $'2 ended 143\\n'
            fi
            drained
            """);
    assertThat(ended.exitCode()).as(ended.err()).isEqualTo(4);
    assertThat(ended.err()).doesNotContain("unknown event", "host 2's command");
  }

  @Test
  void anUnknownLineWhileTheSecondMachineEndsIsReported() throws Exception {
    Ended ended =
        run(
            true,
            """
            printf '%s started\\n' "$host"
            if [ "$host" = 1 ]; then
              until grep -q 'machine 2 has booted' ../err; do sleep 0.1; done
              printf '1 ended 4\\n'
              drained
            else
              read -r request <control2.in
              printf '2 e'
              printf 'nd\\n'
            fi
            """);
    assertThat(ended.exitCode()).as(ended.err()).isEqualTo(125);
    assertThat(ended.err()).contains("unknown event 2\\ end\n");
  }

  @Test
  void aLineTooLongForAnAtomicWriteIsShortened() throws Exception {
    Ended ended =
        start(
            "bash",
            "-c",
            "{ printf '1 %05000d\\n' 0; echo 1 started; } | perl \"$1\" | wc -cl >&2",
            "with-rxe",
            PARTS.resolve("vm/lines.pl").toString());
    assertThat(ended.err().trim().split(" +")).containsExactly("2", String.valueOf(4096 + 10));
  }
}
