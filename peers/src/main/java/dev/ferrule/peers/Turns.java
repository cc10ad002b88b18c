// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers;

import dev.ferrule.peers.match.Outcome;
import dev.ferrule.tools.bench.LineSpan;
import java.util.Map;
import java.util.Optional;

/**
 * What everybody did in one round at one size, and where the two processors were meanwhile.
 *
 * @param outcomes what came out, by entrant, in the order of the turns
 * @param line how long the bare line took before the first turn, and after each; empty if it was
 *     not to take part
 */
record Turns(Map<String, Outcome> outcomes, Optional<LineSpan> line) {

  /** Tells whether the processors were moved in the middle of it. */
  boolean moved() {
    return line.isPresent() && !line.get().isOfOnePlace();
  }
}
