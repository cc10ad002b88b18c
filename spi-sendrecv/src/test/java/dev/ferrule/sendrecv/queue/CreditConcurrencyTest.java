// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs {@link CreditStress} by jcstress, which needs a JVM of its own and starts others. */
class CreditConcurrencyTest {

  @Test
  void shouldShowNothingForbiddenToTwoThreads(@TempDir Path folder)
      throws IOException, InterruptedException {
    Path output = folder.resolve("output");
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-cp",
                    System.getProperty("java.class.path"),
                    "org.openjdk.jcstress.Main",
                    "-t",
                    CreditStress.class.getSimpleName(),
                    "-m",
                    "sanity",
                    "-sc",
                    "false",
                    "-time",
                    "400",
                    "-iters",
                    "3",
                    "-strideSize",
                    "64",
                    "-jvmArgs",
                    "--enable-native-access=ALL-UNNAMED -Xmx1g",
                    "-r",
                    folder.resolve("report").toString()))
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    assertThat(process.waitFor(10, TimeUnit.MINUTES)).isTrue();

    String text = Files.readString(output);
    assertThat(process.exitValue()).as(text).isZero();
    assertThat(text)
        .contains("Failed tests: No matches.")
        .contains("Error tests: No matches.")
        .contains(
            "All remaining tests: " + CreditStress.class.getDeclaredClasses().length + " matching");
  }
}
