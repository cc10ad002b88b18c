// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

/**
 * Memory that the peer has exposed, attached by {@link Rma#attach}: where reads come from and
 * writes go to. It has nothing to be closed.
 *
 * <p><b>Threads:</b> any thread may call.
 */
public interface RemoteMemory {

  /**
   * Returns how long the memory is.
   *
   * @return the length in bytes
   */
  long length();

  /**
   * Tells whether this side may do something with the memory.
   *
   * @param right what it wants to do
   * @return whether it may
   */
  boolean allows(RmaRight right);
}
