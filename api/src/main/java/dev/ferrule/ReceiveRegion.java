// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;

/**
 * A received message in the transport's receive memory, valid until it is freed by {@link #close()}
 * or {@link Receiver#free}. Later messages reuse the object, so do not keep a reference to it.
 * {@link Receiver} has an example.
 *
 * <p><b>Memory safety:</b> the segments are bounded and read-only. A segment that is kept after the
 * region was freed reads whatever message occupies the memory then. {@link Connection} states how
 * the memory is aligned, and what happens to it after the close.
 *
 * <p><b>Threads:</b> any thread may read the bytes; only the Receiver's thread may free the region.
 */
public interface ReceiveRegion extends AutoCloseable {

  /**
   * Returns the message as a read-only segment of exactly its length. Allocates a small object
   * unless the JIT compiler eliminates it; {@link #buffer()}, {@link #offset()} and {@link
   * #length()} never allocate.
   *
   * @return the message's bytes
   * @throws IllegalStateException if the region was freed
   */
  MemorySegment segment();

  /**
   * {@return the memory that contains this message, at {@link #offset()}, and others; to read it
   * without the object of {@link #segment()}}
   *
   * @throws IllegalStateException if the region was freed
   */
  MemorySegment buffer();

  /** {@return the offset of the message in {@link #buffer()}, in bytes} */
  long offset();

  /** {@return the length of the message in bytes; may be 0} */
  int length();

  /** {@return the connection on which the message was received} */
  Connection connection();

  /**
   * Frees the region, like {@link Receiver#free}.
   *
   * @throws IllegalStateException if the region was already freed
   */
  @Override
  void close();
}
