// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs concurrency tests by jcstress, which needs a JVM of its own and starts others. */
public final class Jcstress {

  /** The longer modes, {@code default} and {@code tough}, take hours. */
  private static final String MODE = System.getProperty("ferrule.jcstress.mode", "sanity");

  private static final long LIMIT_MINUTES = 10;

  private Jcstress() {}

  /**
   * Runs all tests declared in a class, and expects that none has a forbidden outcome.
   *
   * @param tests the class, found by the annotation processor of jcstress, which is on the class
   *     path
   * @param folder the directory for the output of jcstress
   * @throws IOException if that cannot be read
   * @throws InterruptedException if the thread was interrupted
   */
  public static void run(Class<?> tests, Path folder) throws IOException, InterruptedException {
    Path output = folder.resolve("output");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                "org.openjdk.jcstress.Main",
                "-t",
                tests.getSimpleName(),
                "-m",
                MODE,
                "-strideSize",
                "64",
                "-jvmArgs",
                "--enable-native-access=ALL-UNNAMED -XX:+UseSerialGC -Xmx256m",
                "-r",
                folder.resolve("report").toString()));
    boolean isLong = !MODE.equals("sanity");
    if (!isLong) {
      command.addAll(List.of("-sc", "false", "-time", "200", "-iters", "1"));
    }
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    assertThat(process.waitFor(isLong ? Integer.MAX_VALUE : LIMIT_MINUTES, TimeUnit.MINUTES))
        .isTrue();

    String text = Files.readString(output);
    assertThat(process.exitValue()).as(text).isZero();
    assertThat(text)
        .contains("Failed tests: No matches.")
        .contains("Error tests: No matches.")
        .contains("All remaining tests: " + tests.getDeclaredClasses().length + " matching");
  }
}
