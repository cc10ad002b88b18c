// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.tools.support.Affinity;
import java.util.List;

/** Checks whether two threads can spin concurrently. */
final class ProcessorsCheck implements Check {

  private static final String NAME = "processors";
  private static final String FIX =
      "use wait=adaptive (the default) or wait=block, or allow the process more processors (docker:"
          + " --cpus, --cpuset-cpus)";

  @Override
  public List<Finding> run() {
    int allowed = Affinity.allowed().size();
    int usable = Runtime.getRuntime().availableProcessors(); // respects the quota of a container
    if (allowed < 2) {
      return List.of(
          Finding.warn(
              NAME, "one: two spinning sides (wait=spin) wait for each other's time slice", FIX));
    }
    if (usable < 2) {
      return List.of(
          Finding.warn(
              NAME,
              "threads may run on "
                  + allowed
                  + " but the CPU quota is less than two: spinning is throttled",
              FIX));
    }
    return List.of(Finding.ok(NAME, usable + ", enough for two spinning sides (wait=spin)"));
  }
}
