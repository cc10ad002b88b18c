// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import java.util.ArrayList;
import java.util.List;

/** Runs all checks. They do not change the system. */
public final class Doctor {

  private Doctor() {}

  /** {@return the findings of all checks, in the order of display} */
  public static List<Finding> examine() {
    List<Finding> findings = new ArrayList<>();
    findings.add(HostChecks.java());
    findings.addAll(HostChecks.providers());
    findings.add(HostChecks.processors());
    findings.add(SmChecks.sharedMemory());
    findings.add(SmChecks.crossMemoryAttach());
    findings.add(SmChecks.knem());
    findings.add(RdmaChecks.libraries());
    findings.addAll(RdmaChecks.devices());
    findings.add(RdmaChecks.lockedMemory());
    return findings;
  }
}
