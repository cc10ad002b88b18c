// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A way to copy from or to the peer's memory by the initiator alone.
 *
 * <p>One thread at a time uses one.
 */
public interface DirectCopy {

  /**
   * Copies the word by which the peer is known, to find out whether it is the peer's process that
   * is copied from.
   *
   * @return null if it is; or why not
   */
  @Nullable String probe();

  /**
   * Copies a piece. Allocates nothing. The memory of this side cannot be freed meanwhile.
   *
   * @param write whether to the region, and not from it
   * @param region the peer's region, which is known to be exposed
   * @param offset where in it, within its bounds
   * @param local where on this side
   * @param localOffset where in it
   * @param length how many bytes, at least 1
   * @return how many were copied, perhaps fewer; or -errno
   * @throws IllegalStateException if the memory of this side was freed
   */
  long copy(
      boolean write,
      RemoteRegion region,
      long offset,
      MemorySegment local,
      long localOffset,
      long length);
}
