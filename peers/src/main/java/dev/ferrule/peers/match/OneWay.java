// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.match;

import java.util.OptionalDouble;

/**
 * Half the time of round trips.
 *
 * @param medianNanos the median, in nanoseconds
 * @param p99Nanos what 99 of 100 stay below, in nanoseconds; empty if the program does not say
 */
public record OneWay(double medianNanos, OptionalDouble p99Nanos) {}
