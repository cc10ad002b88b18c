// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import dev.ferrule.lab.compare.competitor.Outcome;
import dev.ferrule.tools.bench.LineSpan;
import java.util.Map;
import java.util.Optional;

/**
 * The outcomes of one round at one size, and the placement of the two processors during the round.
 *
 * @param outcomes the outcomes by competitor, in the order of measurement
 * @param line the bare line's latency before the first measurement and after each; empty if it was
 *     not measured
 */
record InterleavedRound(Map<String, Outcome> outcomes, Optional<LineSpan> line) {

  /** Returns whether the processors were migrated during the round. */
  boolean moved() {
    return line.isPresent() && !line.get().isOfOnePlacement();
  }
}
