// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.util.Optional;
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
 * <p>Providers implement this interface. A counter that a later version adds is empty unless the
 * provider overrides it.
 */
public interface ConnectionCounters {

  /** {@return messages published to the peer} */
  long messagesSent();

  /** {@return payload bytes of the messages published to the peer} */
  long bytesSent();

  /** {@return messages received by the program} */
  long messagesReceived();

  /** {@return payload bytes of the messages received by the program} */
  long bytesReceived();

  /**
   * {@return how often a claim or send found no space: attempts that returned null, and calls that
   * had to wait}
   */
  long backPressureStalls();

  /** {@return how often the peer was informed that space has become free} */
  long acknowledgments();

  /**
   * {@return handshake messages that were retransmitted, none of which is the program's; empty
   * where the device or the system retransmits, as over RDMA}
   */
  OptionalLong retransmissions();

  /**
   * {@return how often the sleeping peer was woken up; empty where the peer's own device does that,
   * as over RDMA}
   */
  OptionalLong wakeupsSent();

  /**
   * {@return how often a thread of this side blocked in a call of this connection and was woken up}
   * A thread in {@link Listener#receiver()} waits for all connections, and counts for none.
   */
  long wakeupsReceived();

  /**
   * {@return the mechanism that copies the bytes of this side's operations: {@code knem}, {@code
   * cma} or {@code mmap} over shared memory, {@code rdma} by a device; empty where the provider has
   * no {@link Rma}, or no mechanism works} Over shared memory the two sides may have different
   * ones, and it changes if a mechanism fails. It does not apply to memory of {@link Rma#allocate},
   * which is mapped.
   */
  default Optional<String> rmaPath() {
    return Optional.empty();
  }
}
