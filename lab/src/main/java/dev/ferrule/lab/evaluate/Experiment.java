// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import dev.ferrule.lab.report.Section;
import java.util.List;
import java.util.Optional;

/** A question, the points that answer it, and the presentation of the answer. */
public interface Experiment {

  /**
   * Returns the id for {@code --only}.
   *
   * @return a short word, the same for all providers
   */
  String id();

  /**
   * Returns the provider measured.
   *
   * @return a provider's scheme
   */
  String provider();

  /**
   * Returns the title.
   *
   * @return a line for the report and for {@code --list}
   */
  String title();

  /**
   * {@return why this cannot be measured on this machine, for the report; empty if it can be
   * measured}
   */
  Optional<String> obstacle();

  /** {@return the points} Each round measures all of them once, in this order. */
  List<Task> tasks();

  /**
   * Returns why there is nothing to show.
   *
   * @param records all measurements so far
   * @return the reason; empty if any point was measured, or was tried and failed
   */
  default Optional<String> leftOut(Records records) {
    if (obstacle().isPresent()) {
      return obstacle();
    }
    boolean tried =
        tasks().stream().anyMatch(task -> records.isMeasured(task) || records.failures(task) > 0);
    return tried ? Optional.empty() : Optional.of("not measured yet, or excluded by --only");
  }

  /**
   * Returns the report's section about this.
   *
   * @param records all measurements so far, which may be incomplete
   * @param models the fitted models
   * @return a section of the report
   */
  Section section(Records records, Models models);
}
