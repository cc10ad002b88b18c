// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;

/**
 * A memory region of this program that the peer may access without involving this program
 * (one-sided access). {@link Rma#expose} and {@link Rma#allocate} return it; {@link Rma} has an
 * example.
 *
 * <p><b>Threads:</b> any thread may call these methods.
 */
public interface ExposedMemory extends AutoCloseable {

  /** {@return the exposed memory; that of {@link Rma#allocate} may not be used after the close} */
  MemorySegment segment();

  /**
   * {@return the handle that the peer needs to {@linkplain Rma#attach attach} the memory; always
   * the same} The program sends it to the peer in a message.
   */
  RmaHandle handle();

  /**
   * Revokes the peer's access, as closing the connection does. When this method returns, the peer
   * no longer accesses the memory, which may be freed. An access that is in progress may or may not
   * be completed; later accesses fail on the peer's side. Waits for an access in progress for
   * {@link StandardOptions#CLOSE_TIMEOUT}, or one second if that is longer. Then the connection
   * fails, which over RDMA ends the access. Over {@code sm} it does not: a peer that was stopped in
   * the middle of a copy may complete that copy when it continues. Closing twice does nothing.
   */
  @Override
  void close();
}
