// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * What everybody did in one round at one size, and where the two processors were meanwhile. The
 * hosts of virtual machines move processors, from one cache to another, within seconds.
 *
 * @param outcomes what came out, by entrant, in the order of the turns
 * @param linesNanos how long the bare line took before the first turn, and after each; none if it
 *     was not to take part
 */
record Turns(Map<String, Contestant.Outcome> outcomes, List<Double> linesNanos) {

  /** Lines that differ by less may be of one place; from one to the next it is a factor of 2. */
  private static final double SAME = 1.5;

  /** Tells whether the processors stayed where they were, as far as anybody looked. */
  boolean stayed() {
    return linesNanos.isEmpty()
        || Collections.max(linesNanos) <= SAME * Collections.min(linesNanos);
  }

  /** How long the line took; empty if nobody looked, or it was another one after a while. */
  OptionalDouble lineNanos() {
    return stayed()
        ? linesNanos.stream().mapToDouble(Double::doubleValue).average()
        : OptionalDouble.empty();
  }

  /** Tells whether the processors were where they were in another round. */
  boolean isWhere(Turns other) {
    double line = lineNanos().orElse(0);
    double its = other.lineNanos().orElse(0);
    return line <= SAME * its && its <= SAME * line;
  }
}
