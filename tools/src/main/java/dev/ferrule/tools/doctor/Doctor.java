// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import java.util.ArrayList;
import java.util.List;

/** Runs all checks. */
public final class Doctor {

  private static final List<Check> CHECKS =
      List.of(
          new JavaCheck(),
          new ProvidersCheck(),
          new ProcessorsCheck(),
          new SharedMemoryCheck(),
          new CrossMemoryAttachCheck(),
          new KnemCheck(),
          new RdmaLibrariesCheck(),
          new RdmaDeviceCheck(),
          new LockedMemoryCheck());

  private Doctor() {}

  /**
   * Runs all checks.
   *
   * @return the findings, in the order of display
   */
  public static List<Finding> examine() {
    List<Finding> findings = new ArrayList<>();
    CHECKS.forEach(check -> findings.addAll(check.run()));
    return findings;
  }
}
