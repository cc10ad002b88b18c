// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.evaluate;

import dev.ferrule.tools.report.Section;
import java.util.List;
import java.util.Optional;

/** A question, the points that answer it, and how the answer is shown. */
public interface Experiment {

  /**
   * Returns what {@code --only} calls it.
   *
   * @return a short word, the same for all providers
   */
  String id();

  /**
   * Returns whose figures these are.
   *
   * @return a provider's scheme
   */
  String provider();

  /**
   * Returns what is shown.
   *
   * @return a line for the report and for {@code --list}
   */
  String title();

  /**
   * Returns why this cannot be measured here.
   *
   * @return the reason, for the report; empty if it can be measured
   */
  Optional<String> obstacle();

  /**
   * Returns what to measure. In each round all of it is measured once, in this order.
   *
   * @return the points
   */
  List<Task> tasks();

  /**
   * Returns why there is nothing to show.
   *
   * @param records all that was measured so far
   * @return the reason; empty if anything was measured, or was tried and failed
   */
  default Optional<String> leftOut(Records records) {
    if (obstacle().isPresent()) {
      return obstacle();
    }
    boolean tried =
        tasks().stream().anyMatch(task -> records.isMeasured(task) || records.failures(task) > 0);
    return tried ? Optional.empty() : Optional.of("not measured yet, or left out by --only");
  }

  /**
   * Shows what was measured.
   *
   * @param records all that was measured so far, which may be a part only
   * @param models what the models say
   * @return a part of the report
   */
  Section section(Records records, Models models);
}
