// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.util.Objects;
import java.util.OptionalLong;

/**
 * A snapshot of what a connection has done since it was opened. Counters never decrease. The
 * counters of one snapshot are read one after the other while messages may be in transit, so sums
 * over them may be off by those messages.
 *
 * <p>A counter that the transport cannot maintain is empty for the whole life of the connection; 0
 * is a count. Counters of a device, such as the "receiver not ready" errors of an RDMA port, are
 * not connection counters: the system provides them, for all connections of the port together.
 *
 * @param messagesSent messages published to the peer
 * @param bytesSent payload bytes of those messages
 * @param messagesReceived messages received by the program
 * @param bytesReceived payload bytes of those messages
 * @param backPressureStalls how often a claim or send found no space: attempts that returned null,
 *     and calls that had to wait
 * @param acknowledgements how often the peer was informed that space has become free
 * @param retransmissions handshake messages that were retransmitted; empty where the device or the
 *     system retransmits, as over RDMA
 * @param wakeupsSent how often the sleeping peer was woken up; empty where the peer's own device
 *     does that, as over RDMA
 * @param wakeupsReceived how often a thread of this side blocked and was woken up
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
