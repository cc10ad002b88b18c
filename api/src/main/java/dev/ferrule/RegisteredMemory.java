// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;

/**
 * Memory of the program that a connection can send from, and that {@link Rma} can read into and
 * write from; see {@link Connection#register}, and {@link Rma} for an example. Over RDMA the device
 * accesses it directly, so it is pinned until this object is closed.
 */
public interface RegisteredMemory extends AutoCloseable {

  /** {@return the registered memory} */
  MemorySegment segment();

  /**
   * Ends the registration, after sends and accesses in progress. Closing twice does nothing. Flush
   * messages staged from the memory before.
   *
   * @throws IllegalStateException if a message from the memory remains staged while this method
   *     waits; the registration is then still open
   */
  @Override
  void close();
}
