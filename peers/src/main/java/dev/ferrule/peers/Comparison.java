// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers;

import java.time.Instant;
import java.util.List;
import java.util.OptionalDouble;

/**
 * What one run came to.
 *
 * @param ours the name of Ferrule's entrant
 * @param start when it began
 * @param rounds how often everybody had a turn
 * @param parties who took part, and who could not
 * @param figures the results, by measure, size and entrant
 * @param loadBefore the machine's load average when it began; empty if nobody says
 * @param loadAfter the same when it was over, now with ours in it
 */
public record Comparison(
    String ours,
    Instant start,
    int rounds,
    List<Party> parties,
    List<Figure> figures,
    OptionalDouble loadBefore,
    OptionalDouble loadAfter) {

  /**
   * Someone who was to take part.
   *
   * @param name the short name
   * @param version what exactly was measured
   * @param missing why it was not measured; empty if it was
   */
  public record Party(String name, String version, String missing) {}
}
