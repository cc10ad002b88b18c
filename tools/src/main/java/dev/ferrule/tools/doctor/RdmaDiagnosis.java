// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/** The commands for a first hour on RDMA hardware, whose output becomes one file. */
public final class RdmaDiagnosis {

  /** A command takes seconds on a card, and a minute where processors are emulated. */
  private static final Duration LIMIT = Duration.ofMinutes(3);

  private RdmaDiagnosis() {}

  /**
   * Runs all commands. Without a device that works, runs those that describe the host.
   *
   * @param file the file to write; an earlier report is replaced
   * @param lines receives a line for each command, and what to do next
   * @return whether there is a device and no command failed
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
