// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import java.time.Instant;
import java.util.List;
import java.util.OptionalDouble;

/**
 * The results of one run.
 *
 * @param ours the name of Ferrule's competitor
 * @param competitors the competitors, including those that could not run
 * @param figures the results, by measure, size and competitor
 * @param loadBefore the machine's load average at the beginning; empty if unknown
 * @param loadAfter the load average at the end, which includes the run's own
 */
public record Comparison(
    String ours,
    Instant start,
    int rounds,
    List<CompetitorInfo> competitors,
    List<Figure> figures,
    OptionalDouble loadBefore,
    OptionalDouble loadAfter) {

  /**
   * A competitor.
   *
   * @param missing why it was not measured; empty if it was
   */
  public record CompetitorInfo(String name, String version, String missing) {}
}
