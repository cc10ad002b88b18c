// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.OutputFile;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The file that {@link RdmaDiagnosis} writes: the output of each step, and a list of the results.
 * At any time it contains all completed steps.
 */
final class RdmaReport {

  private static final String TITLE = "Report of ferrule doctor --rdma\n";

  private static final String INTRODUCTION =
      """
      It contains the names and addresses of this host and its devices: remove what should not be
      published.
      """;

  private final Path file;
  private final List<String> results = new ArrayList<>();

  private RdmaReport(Path file) {
    this.file = file;
  }

  /** Creates the file, or replaces an earlier report. */
  static RdmaReport create(Path file) {
    if (Files.exists(file) && !isReport(file)) {
      throw new ToolException(
          ExitCode.USAGE,
          file
              + ": the file exists and is not a report of this command; move it, or choose another"
              + " file with --out");
    }
    RdmaReport report = new RdmaReport(file);
    report.write(
        TITLE + INTRODUCTION + "started " + Instant.now().truncatedTo(ChronoUnit.SECONDS) + "\n",
        StandardOpenOption.CREATE,
        StandardOpenOption.TRUNCATE_EXISTING,
        StandardOpenOption.WRITE);
    return report;
  }

  private static boolean isReport(Path file) {
    byte[] title = TITLE.getBytes(StandardCharsets.UTF_8);
    try (var in = Files.newInputStream(file)) {
      return Arrays.equals(title, in.readNBytes(title.length));
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns the file, to which the process of a step appends its output. */
  Path file() {
    return file;
  }

  /** Appends a line. */
  void add(String line) {
    append(line + "\n");
  }

  /** Appends the heading of a step. */
  void begin(DiagnosticStep step) {
    append("\n=== %d. %s\n$ %s\n".formatted(results.size() + 1, step.name(), step.text()));
  }

  /** Appends a line with the result of the step. */
  void end(DiagnosticStep step, StepResult result) {
    results.add(result.line(step.name()));
    append("\n--- " + result + "\n");
  }

  /** Appends the results of all steps. */
  void finish() {
    append("\n=== results\n" + String.join("\n", results) + "\n");
  }

  private void append(String text) {
    write(text, StandardOpenOption.APPEND);
  }

  private void write(String text, StandardOpenOption... options) {
    try {
      Files.writeString(file, text, options);
    } catch (IOException e) {
      throw OutputFile.failure(file, e);
    }
  }
}
