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
   * Why the peer's process is not reached.
   *
   * @param reason the reason, for a message
   * @param mayBeItsEnd whether it is what the end of that process causes, too
   */
  record Obstacle(String reason, boolean mayBeItsEnd) {}

  /**
   * Copies the word by which the peer is known, to find out whether it is the peer's process that
   * is copied from.
   *
   * @return null if it is; or why not
   */
  @Nullable Obstacle probe();

  /**
   * Returns whether a failure is one that the end of the peer's process causes, and the peer cannot
   * be reached by the probe either. Then its end may not have been noticed yet.
   *
   * @param errno how a copy failed
   * @return whether the peer's process may have ended
   */
  boolean mayHaveLostPeer(int errno);

  /**
   * Returns whether a region can be reached at all.
   *
   * @param region the peer's region
   * @return whether {@link #copy} can copy from or to it
   */
  boolean reaches(RemoteRegion region);

  /**
   * Copies a piece. Allocates nothing. The memory of this side cannot be freed meanwhile.
   *
   * @param write whether to the region, and not from it
   * @param region the peer's region, which is known to be exposed and can be reached
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
