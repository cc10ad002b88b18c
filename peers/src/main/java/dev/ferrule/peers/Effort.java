// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers;

import java.util.List;

/**
 * How much to measure.
 *
 * @param sizesBytes the lengths of the messages
 * @param rounds how often everybody has a turn at every size
 * @param roundMillis how long one turn is to take, about
 * @param warmUpMillis how long everybody is warmed up for each size
 */
public record Effort(List<Integer> sizesBytes, int rounds, int roundMillis, int warmUpMillis) {}
