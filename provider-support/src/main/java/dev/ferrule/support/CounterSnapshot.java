// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.ConnectionCounters;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The counters of the providers' connections.
 *
 * @param messagesSent see {@link ConnectionCounters}, as for the others
 * @param bytesSent bytes of these
 * @param messagesReceived messages received
 * @param bytesReceived bytes of these
 * @param backPressureStalls attempts without space
 * @param acknowledgments reports of free space
 * @param retransmissions handshake messages retransmitted; empty if not counted
 * @param wakeupsSent wake-ups of the peer; empty if not counted
 * @param wakeupsReceived wake-ups of this side
 * @param rmaPath the mechanism that copies the bytes of one-sided operations
 */
public record CounterSnapshot(
    long messagesSent,
    long bytesSent,
    long messagesReceived,
    long bytesReceived,
    long backPressureStalls,
    long acknowledgments,
    OptionalLong retransmissions,
    OptionalLong wakeupsSent,
    long wakeupsReceived,
    Optional<String> rmaPath)
    implements ConnectionCounters {}
