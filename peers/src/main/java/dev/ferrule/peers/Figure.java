// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers;

import dev.ferrule.peers.match.Measure;
import java.util.OptionalDouble;

/**
 * What came out for one entrant, at one size. Each is a median over the rounds; a ratio is that of
 * two such medians.
 *
 * @param measure what was measured
 * @param sizeBytes the length of the messages
 * @param entrant whose figure it is
 * @param value nanoseconds, or messages per second
 * @param p99Nanos what 99 of 100 messages stay below; empty for rates and if it was not measured
 * @param rounds of how many rounds
 * @param lineNanos how long a bare line took between the two processors meanwhile, in nanoseconds;
 *     empty if nobody looked, or they were moved in every round
 * @param moved whether they were moved in every round, which makes the figures a mixture
 * @param ofFloor how many times the floor's value this is; empty for rates and without a floor
 * @param oursToIt Ferrule's value divided by this one; empty for Ferrule's own
 */
public record Figure(
    Measure measure,
    int sizeBytes,
    String entrant,
    double value,
    OptionalDouble p99Nanos,
    int rounds,
    OptionalDouble lineNanos,
    boolean moved,
    OptionalDouble ofFloor,
    OptionalDouble oursToIt) {}
