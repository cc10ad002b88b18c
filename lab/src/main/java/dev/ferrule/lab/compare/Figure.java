// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import dev.ferrule.lab.compare.competitor.Measure;
import java.util.OptionalDouble;

/**
 * The result of one competitor, at one size. Each value is a median over the rounds; a ratio is
 * that of two such medians.
 *
 * @param value nanoseconds, or messages per second
 * @param p99Nanos the 99th percentile; empty for rates and if it was not measured
 * @param lineNanos the latency of a bare line between the two processors during these rounds, in
 *     nanoseconds; empty if it was not measured, or the processors were migrated in every round
 * @param moved whether the processors were migrated in every round, so that the figures mix
 *     placements
 * @param ofFloor the ratio to the floor's value; empty for rates and without a floor
 * @param oursToIt Ferrule's value divided by this one; empty for Ferrule's own
 */
public record Figure(
    Measure measure,
    int sizeBytes,
    String competitor,
    double value,
    OptionalDouble p99Nanos,
    int rounds,
    OptionalDouble lineNanos,
    boolean moved,
    OptionalDouble ofFloor,
    OptionalDouble oursToIt) {}
