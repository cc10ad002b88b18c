// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A JVM on this host that runs {@link Peer}, killed at the end of the test at the latest. */
final class OtherProcess implements AutoCloseable {

  private final Process process;
  private final BufferedReader output;

  private OtherProcess(Process process) {
    this.process = process;
    this.output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /** Starts the process; its error output is copied to this JVM's standard error. */
  static OtherProcess start(String... arguments) {
    return start(builder(List.of(arguments)));
  }

  static OtherProcess start(ProcessBuilder builder) {
    try {
      return new OtherProcess(builder.start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns a builder of a peer's process. */
  static ProcessBuilder builder(List<String> arguments) {
    return builder(Peer.class.getName(), arguments);
  }

  /** Returns a builder of a process of any program on this one's class path. */
  static ProcessBuilder builder(String main, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xmx256m",
            "--enable-native-access=ALL-UNNAMED",
            "-Drdma.device=" + System.getProperty("rdma.device", ""),
            "-cp",
            System.getProperty("java.class.path"),
            main));
    command.addAll(arguments);
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
  }

  /** Waits for a line of the process, and returns it. */
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

  /** Kills the process with SIGKILL. */
  void kill() {
    process.destroyForcibly();
    exitCode();
  }

  /** Stops the process with SIGSTOP: it is alive, but does not run. */
  void stop() {
    signal("STOP");
  }

  void resume() {
    signal("CONT");
  }

  private void signal(String name) {
    Commands.run("kill", "-" + name, Long.toString(process.pid()));
  }

  int exitCode() {
    try {
      if (!process.waitFor(Task.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("the other process did not end");
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    kill();
  }
}
