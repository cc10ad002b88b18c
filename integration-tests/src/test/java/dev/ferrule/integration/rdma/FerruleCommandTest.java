// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The command ferrule over sendrecv, each side in a process of its own. */
@RdmaTest
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FerruleCommandTest {

  private static final String LITTLE = " --size 64 --messages 200 --warmup 50 --no-pin";

  @TempDir private Path folder;

  private static ProcessBuilder command(String arguments) {
    return OtherProcess.builder("dev.ferrule.tools.Main", List.of(arguments.trim().split(" +")));
  }

  /** Runs a command to its end; returns its standard output. */
  private String run(String arguments) throws IOException {
    Path output = Files.createTempFile(folder, "output", "");
    Path errors = Files.createTempFile(folder, "errors", "");
    try (OtherProcess process =
        OtherProcess.start(
            command(arguments).redirectOutput(output.toFile()).redirectError(errors.toFile()))) {
      assertThat(process.exitCode()).as(Files.readString(errors)).isZero();
    }
    return Files.readString(output);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "latency --wait adaptive --inline 0 --rounds 1",
        "bandwidth --unacked 16 --batch 8 --inline 220 --verify --rounds 1",
        "bandwidth --connections 4 --threads 2 --srq --wait block --rounds 1",
        "bandwidth --connections 4 --threads 1 --single-receiver --wait block --verify --rounds 2",
      })
  void aMeasurementStartsItsServerAndEndsWell(String arguments) throws IOException {
    assertThat(run(arguments + LITTLE + " --provider sendrecv"))
        .contains("sendrecv")
        .containsPattern("(?m)^ +64 ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " --single-receiver --srq"})
  void aServerServesOneClientAfterTheOther(String flags) throws IOException {
    try (OtherProcess server =
        OtherProcess.start(
            command(
                "serve --wait block --option maxMessage=4KiB"
                    + flags
                    + " sendrecv://"
                    + RdmaDevice.address()
                    + ":0"))) {
      String address = server.line();
      for (String measurement : List.of("latency", "bandwidth --connections 2")) {
        assertThat(run(measurement + LITTLE + " --rounds 1 --wait block " + address))
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
    Path said = folder.resolve("said");
    try (OtherProcess listener =
        OtherProcess.start(
            command("listen sendrecv://" + RdmaDevice.address() + ":0")
                .redirectOutput(copy.toFile())
                .redirectError(said.toFile()))) {
      Task.await("the listener listens", () -> lines(said).size() == 1);
      String address = lines(said).get(0).replaceFirst("listening on ", "");

      run("send " + address + " " + original);

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
  void theDoctorAndTheListOfProvidersKnowTheDevice() throws IOException {
    assertThat(run("doctor")).contains(RdmaDevice.name());
    assertThat(run("providers")).containsPattern("sendrecv - .*\n  works here");
  }
}
