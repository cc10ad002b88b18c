// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Runs a program in a process of its own. */
final class ProcessHost implements Host {

  private static final int LIMIT_SECONDS = 90;

  private final Process process;
  private final Writer steps;
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private volatile boolean ended;

  ProcessHost() {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-ea",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xshare:auto",
            "-Xmx128m",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            Program.class.getName());
    try {
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    steps = process.outputWriter(StandardCharsets.UTF_8);
    Thread.ofPlatform().daemon().start(this::read);
  }

  private void read() {
    try (BufferedReader output =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        answers.add(line);
      }
    } catch (IOException e) {
      // the process was killed
    }
    ended = true;
    answers.add("!Ended: exit code " + exitCode());
  }

  private int exitCode() {
    try {
      return process.waitFor();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void begin(String step) {
    try {
      steps.write(step + "\n");
      steps.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public boolean isDone() {
    return !answers.isEmpty();
  }

  @Override
  public String answer() {
    String answer = next(LIMIT_SECONDS);
    if (answer != null) {
      return answer;
    }
    signal("QUIT"); // prints the stacks of its threads
    List<String> dump = new ArrayList<>();
    for (String line = next(5); line != null && !ended; line = next(2)) {
      dump.add(line);
    }
    throw new AssertionError("a step has not ended:\n" + String.join("\n", dump));
  }

  private @Nullable String next(int seconds) {
    try {
      return answers.poll(seconds, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void stop() {
    signal("STOP");
  }

  @Override
  public void resume() {
    signal("CONT");
  }

  private void signal(String name) {
    try {
      new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
    exitCode();
  }
}
