// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import dev.ferrule.sm.endpoint.EndpointFiles;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A JVM that runs one of the roles of {@link Peer}, and is killed at the end of the test at the
 * latest.
 */
final class OtherProcess implements AutoCloseable {

  private final Process process;
  private final BufferedReader output;

  private OtherProcess(Process process) {
    this.process = process;
    this.output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /** Starts a role; its own failure messages go to this JVM's standard error. */
  static OtherProcess start(String role, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-XX:TieredStopAtLevel=1", // most processes live for a second
            "-XX:+UseSerialGC",
            "-Xmx256m",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            Peer.class.getName(),
            role));
    command.addAll(List.of(arguments));
    try {
      return new OtherProcess(
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for the next line of the other process, and returns it. */
  String line() {
    try {
      String line = output.readLine();
      if (line == null) {
        throw new AssertionError("the other process ended, with exit code " + exitCode());
      }
      return line;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Lets a waiting role continue. */
  void goOn() {
    try {
      process.getOutputStream().write('\n');
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills the process, as the kernel or an administrator would: no code of it runs any more. */
  void kill() {
    process.destroyForcibly();
    exitCode();
  }

  /** Stops the process, as a debugger or a batch scheduler would: it is alive but does not run. */
  void stop() {
    signal("STOP");
  }

  void resume() {
    signal("CONT");
  }

  private void signal(String name) {
    try {
      int code =
          new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
      if (code != 0) {
        throw new AssertionError("kill -" + name + " failed");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  int exitCode() {
    try {
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        throw new AssertionError("the other process did not end");
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  long pid() {
    return process.pid();
  }

  /** Returns the first endpoint that the process has created in a directory. */
  Path endpoint(Path directory) {
    return directory.resolve(Long.toString(process.pid())).resolve("1");
  }

  static Path lock(Path endpoint) {
    return endpoint.resolve(EndpointFiles.LOCK);
  }

  @Override
  public void close() {
    process.destroyForcibly();
    exitCode();
  }
}
