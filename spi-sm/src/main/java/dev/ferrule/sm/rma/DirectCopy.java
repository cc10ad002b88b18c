// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

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
   * Copies a piece. Allocates nothing.
   *
   * @param write whether to the region, and not from it
   * @param region the peer's region, which is known to be exposed
   * @param offset where in it, within its bounds
   * @param localAddress where on this side
   * @param length how many bytes, at least 1
   * @return how many were copied, perhaps fewer; or -errno
   */
  long copy(boolean write, RemoteRegion region, long offset, long localAddress, long length);
}
