// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Ferrule;
import dev.ferrule.ProviderInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The availability of the providers in a JVM that cannot call C functions. */
class NativeAccessTest {

  private static final int REPETITIONS = 3;

  /** Prints the availability of all providers several times. */
  static final class AvailabilityPrinter {

    private AvailabilityPrinter() {}

    public static void main(String[] args) {
      for (int i = 0; i < REPETITIONS; i++) {
        for (ProviderInfo provider : Ferrule.providers()) {
          System.out.println(provider.scheme() + ": " + provider.availability());
        }
      }
    }
  }

  @TempDir Path directory;

  @Test
  void theAvailabilityOfEveryProviderNamesTheMissingFlagEachTime() throws Exception {
    List<String> printed = printed("--illegal-native-access=deny");

    assertThat(printed)
        .hasSize(3 * REPETITIONS)
        .allMatch(line -> line.contains("--enable-native-access"))
        .noneMatch(line -> line.contains("initializ"))
        .noneMatch(line -> line.contains("rdma-core"));
    assertThat(List.copyOf(printed.subList(3, 6))).isEqualTo(printed.subList(0, 3));
  }

  /** The numbers of system calls and flags differ between architectures. */
  @Test
  void everyProviderIsUnavailableOnAnUnknownArchitecture() throws Exception {
    assertThat(printed("-Dos.arch=riscv64"))
        .hasSize(3 * REPETITIONS)
        .allMatch(line -> line.contains("needs x86-64 or aarch64, and this is riscv64"));
  }

  private List<String> printed(String option) throws IOException, InterruptedException {
    Path out = directory.resolve("out");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                option,
                "-cp",
                System.getProperty("java.class.path"),
                AvailabilityPrinter.class.getName())
            .redirectOutput(out.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.exitValue()).isZero();
    return Files.readAllLines(out);
  }
}
