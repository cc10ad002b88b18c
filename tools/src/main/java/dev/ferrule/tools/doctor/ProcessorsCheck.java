// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.tools.support.Affinity;
import java.util.List;

/** Whether two threads can spin at a time. */
final class ProcessorsCheck implements Check {

  private static final String NAME = "processors";
  private static final String FIX =
      "use wait=adaptive (the default) or wait=block, or give the process more processors (docker:"
          + " --cpus, --cpuset-cpus)";

  @Override
  public List<Finding> run() {
    int allowed = Affinity.allowed().size();
    int usable = Runtime.getRuntime().availableProcessors(); // also knows the quota of a container
    if (allowed < 2) {
      return List.of(
          Finding.warn(
              NAME,
              "one: two sides that spin (wait=spin) would wait for each other's time slice",
              FIX));
    }
    if (usable < 2) {
      return List.of(
          Finding.warn(
              NAME,
              "threads may run on "
                  + allowed
                  + " but the quota is less than two, so spinning is throttled",
              FIX));
    }
    return List.of(Finding.ok(NAME, usable + ", enough for two sides that spin (wait=spin)"));
  }
}
