// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import dev.ferrule.lab.report.Section;
import java.util.List;
import java.util.Optional;

/** A question, the points that answer it, and the presentation of the answer. */
public interface Experiment {

  /** Returns a short word for {@code --only}, the same for all providers. */
  String id();

  String provider();

  /** Returns a line for the report and for {@code --list}. */
  String title();

  /**
   * {@return why this cannot be measured on this machine, for the report; empty if it can be
   * measured}
   */
  Optional<String> obstacle();

  /** {@return the points} Each round measures all of them once, in this order. */
  List<Task> tasks();

  /**
   * Returns why there is nothing to show; empty if any point was measured, or was tried and failed.
   */
  default Optional<String> leftOut(Records records) {
    if (obstacle().isPresent()) {
      return obstacle();
    }
    boolean tried =
        tasks().stream().anyMatch(task -> records.isMeasured(task) || records.failures(task) > 0);
    return tried ? Optional.empty() : Optional.of("not measured yet, or excluded by --only");
  }

  /** Returns the report's section about the measurements so far, which may be incomplete. */
  Section section(Records records, Models models);
}
