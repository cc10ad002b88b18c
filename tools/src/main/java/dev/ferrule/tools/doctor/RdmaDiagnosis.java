// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/** Runs the commands for a first test of RDMA hardware, and writes their output to one file. */
public final class RdmaDiagnosis {

  /** A command takes seconds on a card, and a minute on emulated processors. */
  private static final Duration LIMIT = Duration.ofMinutes(3);

  private RdmaDiagnosis() {}

  /**
   * Runs all commands or, if no device works, only those that describe the host.
   *
   * @param file the file to write; an earlier report is replaced
   * @param lines receives a line for each command, and a line with the next step for the user
   * @return whether a device works and no command failed
   */
  public static boolean run(Path file, Consumer<String> lines) {
    Optional<ActivePort> port = ActivePort.find();
    RdmaReport report = RdmaReport.create(file);
    report.add("device " + port.map(ActivePort::toString).orElse("none that works"));
    StepRunner runner = new StepRunner(report, LIMIT, lines);
    boolean passed = runner.run(RdmaSteps.ofHost());
    if (port.isPresent()) {
      passed &= runner.run(RdmaSteps.on(port.get()));
    } else {
      passed = false;
      report.add("\n=== the commands that need a device were not run");
      for (String line : RdmaChecks.whyNoDeviceWorks().lines()) {
        lines.accept(line);
        report.add(line);
      }
    }
    report.finish();
    lines.accept(
        "the report is in "
            + file.toAbsolutePath()
            + ": send it with your issue (it contains host names and addresses)");
    return passed;
  }
}
