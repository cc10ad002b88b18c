// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.competitor;

import dev.ferrule.tools.bench.Pinning;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.ToolException;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * An external program that measures itself in two processes: a server, which listens on a TCP port,
 * and a client, which prints the results.
 */
final class Program {

  private static final long START_SECONDS = 20;
  private static final long RUN_SECONDS = 120;
  private static final long LOOK_MILLIS = 5;
  private static final String LISTENING = "0A"; // in /proc/net/tcp
  private static final int PORT_COLUMN = 1;
  private static final int STATE_COLUMN = 3;

  private Program() {}

  static boolean exists(String name) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, name)));
  }

  static int freePort() {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new ToolException(ExitCode.NO_RESOURCE, "no TCP port is free: " + e.getMessage(), e);
    }
  }

  /** Pins a command to the processor that the client or server of the tools would use. */
  static List<String> pinned(boolean client, List<String> command) {
    Pinning pinning = Pinning.onAllowedCpus();
    OptionalInt cpu = client ? pinning.client(0) : pinning.server(0);
    if (cpu.isEmpty() || !exists("taskset")) {
      return command;
    }
    List<String> all = new ArrayList<>(List.of("taskset", "-c", "" + cpu.getAsInt()));
    all.addAll(command);
    return all;
  }

  /** Runs both processes, and returns the output of the client's. */
  static List<String> measure(
      Map<String, String> environment, int port, List<String> server, List<String> client) {
    ProcessBuilder builder = new ProcessBuilder(server);
    builder.environment().putAll(environment);
    builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD);
    Guarded<AutoCloseable> running = guard(start(builder));
    try {
      awaitListening(port, server.get(0));
      return output(environment, client);
    } finally {
      running.close();
    }
  }

  /** Runs one process; returns its output, and throws if it fails. */
  static List<String> output(Map<String, String> environment, List<String> command) {
    return output(environment, command, false);
  }

  /**
   * Returns the output of a program's version option. Some programs, such as perftest's, exit with
   * a failure after it.
   */
  static List<String> version(Map<String, String> environment, List<String> command) {
    return output(environment, command, true);
  }

  private static List<String> output(
      Map<String, String> environment, List<String> command, boolean mayFail) {
    Path output = temporaryFile(); // need not be read while the program measures
    Path errors = temporaryFile(); // separate, as it may begin in the middle of a line of results
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    builder.redirectOutput(output.toFile()).redirectError(errors.toFile());
    Process process = start(builder);
    Guarded<AutoCloseable> running = guard(process);
    try {
      boolean ended = process.waitFor(RUN_SECONDS, TimeUnit.SECONDS);
      List<String> lines = readLines(output);
      if (!ended || process.exitValue() != 0 && !mayFail) {
        List<String> all = new ArrayList<>(lines);
        all.addAll(readLines(errors));
        throw new ToolException(
            ExitCode.FAILED,
            String.join(" ", command)
                + (ended ? ": " + lastLine(all) : ": did not end within " + RUN_SECONDS + " s"));
      }
      return lines.isEmpty() ? readLines(errors) : lines;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException(ExitCode.FAILED, "interrupted", e);
    } finally {
      running.close();
      output.toFile().delete();
      errors.toFile().delete();
    }
  }

  private static Path temporaryFile() {
    try {
      return Files.createTempFile("ferrule-", ".out");
    } catch (IOException e) {
      throw new ToolException(ExitCode.NO_RESOURCE, "cannot create a temporary file: " + e, e);
    }
  }

  private static Process start(ProcessBuilder builder) {
    try {
      return builder.start();
    } catch (IOException e) {
      throw new ToolException(ExitCode.FAILED, String.valueOf(e.getMessage()), e);
    }
  }

  private static Guarded<AutoCloseable> guard(Process process) {
    return Guarded.of(() -> process.destroyForcibly().waitFor());
  }

  /**
   * Waits until a port is listened on. A trial connection would be mistaken for the client's, so
   * the system's socket table is read.
   */
  private static void awaitListening(int port, String name) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (!isListening(port)) {
      if (System.nanoTime() > end || Guarded.exiting()) {
        throw new ToolException(
            ExitCode.FAILED, name + " does not listen on its port after " + START_SECONDS + " s");
      }
      try {
        Thread.sleep(LOOK_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new ToolException(ExitCode.FAILED, "interrupted", e);
      }
    }
  }

  private static boolean isListening(int port) {
    String suffix = String.format(":%04X", port);
    return Stream.of("/proc/net/tcp", "/proc/net/tcp6")
        .flatMap(file -> readLines(Path.of(file)).stream())
        .map(line -> line.strip().split(" +"))
        .anyMatch(columns ->
            columns.length > STATE_COLUMN
                && columns[PORT_COLUMN].endsWith(suffix)
                && columns[STATE_COLUMN].equals(LISTENING));
  }

  private static List<String> readLines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of(); // a kernel without that protocol, or unreadable text
    }
  }

  private static String lastLine(List<String> lines) {
    return lastOf(lines.stream().filter(line -> !line.isBlank())).orElse("no output");
  }

  static Optional<String> lastOf(Stream<String> lines) {
    return lines.reduce((before, last) -> last);
  }
}
