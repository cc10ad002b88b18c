// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Copies from or to the peer's memory without involving the peer (one-sided).
 *
 * <p>Used by one thread at a time.
 */
public interface DirectCopy {

  /**
   * The reason why the peer's process cannot be reached.
   *
   * @param reason the reason, for a message
   * @param mayBeItsEnd whether the end of that process causes it, too
   */
  record Obstacle(String reason, boolean mayBeItsEnd) {}

  /**
   * Copies the peer's probe word, to verify that the copy reads from the peer's process.
   *
   * @return null if it does; otherwise the reason
   */
  @Nullable Obstacle probe();

  /**
   * Returns whether a failure is one that the end of the peer's process causes, and the probe
   * cannot reach the peer either. Its end may then not have been detected yet.
   *
   * @param errno the error of a copy
   * @return whether the peer's process may have ended
   */
  boolean mayHaveLostPeer(int errno);

  /**
   * Returns whether a region can be reached.
   *
   * @param region the peer's region
   * @return whether {@link #copy} can copy from or to it
   */
  boolean reaches(RemoteRegion region);

  /**
   * Copies a piece. Allocates nothing. The memory of this side cannot be freed meanwhile.
   *
   * @param write whether to copy to the region instead of from it
   * @param region the peer's region, which is exposed and can be reached
   * @param offset the offset in it, within its bounds
   * @param local memory of this side
   * @param localOffset the offset in it
   * @param length the number of bytes, at least 1
   * @return the number of bytes copied, possibly fewer; or -errno
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
