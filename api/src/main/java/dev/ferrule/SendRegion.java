// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;

/**
 * Memory for one outgoing message, from which the transport sends without a copy. A region is
 * claimed by {@link Sender#claim}, where there is an example, and released by {@link
 * Sender#sendAsync(SendRegion)} or {@link #abort()}. Its initial content is undefined. The object
 * is reused after that, so do not keep a reference to it.
 *
 * <p><b>Threads:</b> any thread may write the bytes before the Sender's thread sends the region.
 */
public interface SendRegion {

  /**
   * Returns the claimed memory as a segment of exactly the claimed length, aligned to 8 bytes.
   * Allocates a small object unless the JIT compiler eliminates it; {@link #buffer()}, {@link
   * #offset()} and {@link #length()} never allocate.
   *
   * @return the memory to write the message to
   * @throws IllegalStateException if the region is not claimed
   */
  MemorySegment segment();

  /**
   * {@return the memory that contains this region, at {@link #offset()}, and others} Only the bytes
   * of this region may be written.
   *
   * @throws IllegalStateException if the region is not claimed
   */
  MemorySegment buffer();

  /** {@return the offset of the region in {@link #buffer()}, in bytes} */
  long offset();

  /** {@return the claimed length in bytes; may be 0} */
  int length();

  /**
   * Releases the region without sending it. Must be called by the Sender's thread. Does nothing
   * after the connection was closed.
   *
   * @throws IllegalStateException if the region is not claimed (already sent or aborted)
   */
  void abort();
}
