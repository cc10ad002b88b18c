// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Runs all checks. They do not change the system. */
public final class Doctor {

  private Doctor() {}

  /** {@return the findings of all checks, in the order of display} */
  public static List<Finding> examine() {
    List<Finding> findings = new ArrayList<>();
    // This check starts a process, which takes as long as all the others.
    CompletableFuture<Finding> crossMemoryAttach =
        CompletableFuture.supplyAsync(
            SmChecks::crossMemoryAttach, task -> Thread.ofPlatform().daemon().start(task));
    findings.add(HostChecks.java());
    findings.addAll(HostChecks.providers());
    findings.add(HostChecks.processors());
    findings.add(SmChecks.sharedMemory());
    findings.add(crossMemoryAttach.join());
    findings.add(SmChecks.knem());
    findings.add(RdmaChecks.libraries());
    findings.addAll(RdmaChecks.devices());
    findings.add(RdmaChecks.lockedMemory());
    return findings;
  }
}
