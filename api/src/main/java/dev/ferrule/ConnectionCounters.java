// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.util.Objects;
import java.util.OptionalLong;

/**
 * What a connection has done since it was opened: a snapshot, not a live view. Each counter only
 * grows. The counters of one snapshot are read one after the other while messages may be moving, so
 * sums over them can be off by the messages in between.
 *
 * <p>A counter that the transport cannot count is empty, and stays so for the connection's whole
 * life; a counter that is 0 was counted. What only a device counts, such as the "receiver not
 * ready" errors of an RDMA port, is no counter of a connection: the system has it, for all
 * connections of the port together.
 *
 * @param messagesSent messages published to the peer
 * @param bytesSent payload bytes of those messages
 * @param messagesReceived messages taken from the connection by the program
 * @param bytesReceived payload bytes of those messages
 * @param backPressureStalls how often a claim or send found no room: tries that returned null, and
 *     calls that had to wait
 * @param acknowledgements how often the peer was informed that room has become free
 * @param retransmissions handshake messages that were sent again; empty where the device or the
 *     system repeats what is lost, as over RDMA
 * @param wakeupsSent how often the sleeping peer had to be woken up; empty where the peer's own
 *     device does that, as over RDMA
 * @param wakeupsReceived how often a thread of this side went to sleep and woke up again
 */
public record ConnectionCounters(
    long messagesSent,
    long bytesSent,
    long messagesReceived,
    long bytesReceived,
    long backPressureStalls,
    long acknowledgements,
    OptionalLong retransmissions,
    OptionalLong wakeupsSent,
    long wakeupsReceived) {

  /** Checks that no counter is null. */
  public ConnectionCounters {
    Objects.requireNonNull(retransmissions, "retransmissions");
    Objects.requireNonNull(wakeupsSent, "wakeupsSent");
  }
}
