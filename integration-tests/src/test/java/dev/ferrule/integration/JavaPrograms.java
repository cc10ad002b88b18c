// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Programs of one source file, in processes that are killed at the end of the test at the latest.
 */
public final class JavaPrograms implements AfterEachCallback {

  /** How each server of the documentation begins its output. */
  private static final String LISTENING = "listening at ";

  private final List<Process> started = new ArrayList<>();

  /** Starts a program on this JVM's class path, in the root folder of the project. */
  public Process start(Path source, List<String> arguments) throws IOException {
    return start(source, arguments, ProcessBuilder.Redirect.INHERIT);
  }

  /** Starts a program as above, with its error output redirected. */
  public Process start(Path source, List<String> arguments, ProcessBuilder.Redirect errors)
      throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1", // the programs run for a second
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                source.toString()));
    command.addAll(arguments);
    Process process =
        new ProcessBuilder(command).directory(Page.ROOT.toFile()).redirectError(errors).start();
    started.add(process);
    return process;
  }

  /** Waits until a program listens, and returns it. */
  public static Process awaitListening(Process server) throws IOException {
    assertThat(server.inputReader().readLine()).startsWith(LISTENING);
    return server;
  }

  /** Waits until a program has ended without an error, and returns what it has printed since. */
  public static List<String> outputOf(Process process) throws InterruptedException {
    List<String> lines = process.inputReader().lines().toList();
    assertThat(process.waitFor()).isZero();
    return lines;
  }

  @Override
  public void afterEach(ExtensionContext context) throws InterruptedException {
    for (Process process : started) {
      process.destroyForcibly().waitFor();
    }
    started.clear();
  }
}
