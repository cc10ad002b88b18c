// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;

/**
 * Memory of this program that the peer may read or write without this program's doing; see {@link
 * Rma#expose}, with an example there.
 *
 * <p><b>Threads:</b> any thread may call.
 */
public interface ExposedMemory extends AutoCloseable {

  /**
   * Returns the memory.
   *
   * @return the segment that was exposed
   */
  MemorySegment segment();

  /**
   * Returns what the peer needs in order to {@linkplain Rma#attach attach} the memory. The program
   * sends it there, for example as a message or as the payload of a handshake.
   *
   * @return the handle; the same each time
   */
  RmaHandle handle();

  /**
   * Takes the memory back: when this returns, the peer does not access it any more, and the memory
   * may be freed. What the peer is at just now may be done or not; what it tries later fails on its
   * side. Waits for the peer only while it copies a piece, and until it has noticed that it is
   * done, and no longer than the connection lives. Closing it twice does nothing.
   */
  @Override
  void close();
}
