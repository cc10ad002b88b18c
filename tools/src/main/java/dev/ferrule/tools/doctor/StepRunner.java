// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.StatusLine;
import dev.ferrule.tools.support.ToolException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Runs the steps in order, each with a time limit. After a step that fails, the next one runs. */
final class StepRunner {

  /** The folders of administrators' programs, which may be missing in a user's PATH. */
  private static final List<String> MORE_FOLDERS = List.of("/usr/sbin", "/sbin");

  private static final String PATH = "PATH";
  private static final double NANOS_PER_SECOND = 1e9;

  private final RdmaReport report;
  private final Duration limit;
  private final Consumer<String> lines;

  /**
   * Creates a runner.
   *
   * @param report receives the output of each step, and its result
   * @param limit the time limit of each step
   * @param lines receives a line for each step
   */
  StepRunner(RdmaReport report, Duration limit, Consumer<String> lines) {
    this.report = report;
    this.limit = limit;
    this.lines = lines;
  }

  /** Runs the steps; returns whether none of them failed. */
  boolean run(List<DiagnosticStep> steps) {
    boolean passed = true;
    for (DiagnosticStep step : steps) {
      StatusLine.onTerminal().show("running: " + step.text());
      report.begin(step);
      StepResult result = find(step.program()).isPresent() ? execute(step) : absent(step);
      if (Guarded.exiting()) {
        // A signal to this process has ended the step as well.
        throw new ToolException(ExitCode.FAILED, "interrupted; the report is incomplete");
      }
      report.end(step, result);
      StatusLine.onTerminal().clear();
      lines.accept(result.line(step.name()));
      passed &= result.status() != StepResult.Status.FAILED;
    }
    return passed;
  }

  private static StepResult absent(DiagnosticStep step) {
    return new StepResult(
        StepResult.Status.SKIPPED,
        step.program() + " is not installed (package " + step.packageName() + ")");
  }

  private static Optional<Path> find(String program) {
    return Stream.of(searchPath().split(File.pathSeparator))
        .map(folder -> Path.of(folder).resolve(program))
        .filter(Files::isExecutable)
        .findFirst();
  }

  private static String searchPath() {
    String more = String.join(File.pathSeparator, MORE_FOLDERS);
    String path = System.getenv(PATH);
    return path == null ? more : path + File.pathSeparator + more;
  }

  private StepResult execute(DiagnosticStep step) {
    List<String> command = new ArrayList<>(step.command());
    // The JDK would search only the PATH of this process.
    find(command.get(0)).ifPresent(program -> command.set(0, program.toString()));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectInput(new File("/dev/null"))
            .redirectOutput(ProcessBuilder.Redirect.appendTo(report.file().toFile()));
    builder.environment().put(PATH, searchPath());
    long start = System.nanoTime();
    try {
      Process process = builder.start();
      try (Guarded<AutoCloseable> _ = Guarded.of(() -> stop(process))) {
        if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
          return new StepResult(
              StepResult.Status.FAILED, "stopped at its time limit of " + limit.toSeconds() + " s");
        }
      }
      int code = process.exitValue();
      return new StepResult(
          code == 0 ? StepResult.Status.OK : StepResult.Status.FAILED,
          String.format(
              Locale.ROOT,
              "exit code %d, %.1f s",
              code,
              (System.nanoTime() - start) / NANOS_PER_SECOND));
    } catch (IOException e) {
      return new StepResult(StepResult.Status.FAILED, "cannot be started: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException(ExitCode.FAILED, "interrupted; the report is incomplete", e);
    }
  }

  /** Kills a process and its descendants; does nothing if it has ended. */
  private static void stop(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly().onExit().join();
  }
}
