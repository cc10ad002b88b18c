// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.ConnectionCounters;

/**
 * What one side of a connection has counted, as its process reports it. The rates between two
 * samples are the differences of their counters divided by that of their times.
 *
 * @param number the connection's number at the endpoint
 * @param peer the endpoint of the peer and the connection's number there
 * @param nanos when the counters were read, by {@link System#nanoTime} of that process
 * @param counters the counters
 * @param sendFill the part of the space for sending whose messages the peer has not consumed, from
 *     0 to 1; of several senders the greatest
 */
public record ConnectionSample(
    int number, String peer, long nanos, ConnectionCounters counters, double sendFill) {}
