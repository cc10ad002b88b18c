// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

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
   * @param mayBeItsEnd whether the end of that process may be the cause
   */
  record Obstacle(String reason, boolean mayBeItsEnd) {}

  /**
   * Copies the peer's probe word, to verify that the copy reads from the peer's process.
   *
   * @return null if it does; otherwise the reason
   */
  @Nullable Obstacle probe();

  /**
   * {@return whether a failure is one that the end of the peer's process causes, and the probe
   * cannot reach the peer either} Its end may then not have been detected yet.
   *
   * @param errno the error of a copy
   */
  boolean mayHaveLostPeer(int errno);

  /**
   * {@return whether {@link #copy} can copy from or to a region}
   *
   * @param region the peer's region
   */
  boolean reaches(RemoteRegion region);

  /**
   * Copies the next bytes of an operation. Allocates nothing. The memory of this side cannot be
   * freed during the call.
   *
   * @param transfer the operation, whose region is exposed and can be reached
   * @param length the number of bytes, at least 1
   * @return the number of bytes copied, possibly fewer; or -errno
   * @throws IllegalStateException if the memory of this side was freed
   */
  long copy(Transfer transfer, long length);
}
