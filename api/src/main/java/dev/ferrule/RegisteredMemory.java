// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;

/**
 * A registered memory region of this program (a memory region of RDMA verbs): connections send from
 * it, over RDMA without a copy, and it is the local memory of {@link Rma}. {@link
 * Connection#register} returns it; {@link Sender} and {@link Rma} have examples.
 *
 * <p>Every connection of the same provider in this process can use it, not only the one that it was
 * registered with. The RDMA providers count as one. Over RDMA the device accesses the memory
 * directly, so it is pinned: once per device, however many connections use it, and also if the same
 * segment is registered several times.
 *
 * <p><b>Lifetime:</b> the connection that the memory was registered with uses it, and so does every
 * other connection from its first message or access with it on, until the program closes that
 * connection. When the last of them is closed, the registration is closed, too, and cannot be used
 * by other connections any more. The peer's close and the loss of a peer do not end a use. So a
 * program that replaces a connection closes the old one after the first use over the new one, or
 * registers again.
 *
 * <p><b>Order of closing:</b> the registration or all connections that use it, in any order, and
 * then the memory's arena. In a {@code try} statement the arena is declared first.
 *
 * <p><b>Errors:</b> memory of another provider causes {@link IllegalArgumentException}, memory that
 * is freed or whose registration is closed {@link IllegalStateException}. The first use on a
 * further device may throw {@link ResourceExhaustedException}.
 *
 * <p><b>Threads:</b> any thread may call these methods.
 */
public interface RegisteredMemory extends AutoCloseable {

  /** {@return the registered memory} */
  MemorySegment segment();

  /**
   * Ends the registration, after sends and accesses in progress over all connections. A connection
   * whose peer does not acknowledge them within {@link StandardOptions#CLOSE_TIMEOUT}, or one
   * second if that is longer, fails with {@link PeerLostException}. The failure ends the device's
   * use of the memory, which the program may free after this call. Closing twice does nothing; if
   * several threads close it concurrently, each call returns when the registration has ended. Flush
   * messages staged from the memory before.
   *
   * @throws IllegalStateException if a message from the memory is staged on any connection and not
   *     flushed within that time; the registration is then still open
   */
  @Override
  void close();
}
