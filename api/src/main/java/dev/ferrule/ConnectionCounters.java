// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

/**
 * What a connection has done since it was opened: a snapshot, not a live view. Each counter only
 * grows. The counters of one snapshot are read one after the other while messages may be moving, so
 * sums over them can be off by the messages in between.
 *
 * @param messagesSent messages published to the peer
 * @param bytesSent payload bytes of those messages
 * @param messagesReceived messages taken from the connection by the program
 * @param bytesReceived payload bytes of those messages
 * @param backPressureStalls how often a claim or send found no room: tries that returned null, and
 *     calls that had to wait
 * @param acknowledgements how often the peer was told that room has become free
 * @param retransmissions handshake or protocol messages that were sent again
 * @param rnrNaks "receiver not ready" errors that the device reported; 0 where there is no device
 * @param wakeupsSent how often the sleeping peer had to be woken up
 * @param wakeupsReceived how often a thread of this side went to sleep and woke up again
 */
public record ConnectionCounters(
    long messagesSent,
    long bytesSent,
    long messagesReceived,
    long bytesReceived,
    long backPressureStalls,
    long acknowledgements,
    long retransmissions,
    long rnrNaks,
    long wakeupsSent,
    long wakeupsReceived) {}
