// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import java.lang.foreign.MemorySegment;

/**
 * Memory by absolute address, for the data plane: an access through {@link #ALL} checks neither
 * bounds nor whether an arena was closed. So every address has to lie within a {@link
 * SharedMapping} that the caller keeps reachable, and every offset that a peer or a program chose
 * has to be checked before.
 */
public final class RawMemory {

  /** All memory; the offset of an access is its address. */
  public static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private RawMemory() {}

  /**
   * Returns where memory is.
   *
   * @param memory native memory
   * @return its address
   * @throws IllegalArgumentException if it is on the heap, where it has none
   */
  public static long address(MemorySegment memory) {
    if (!memory.isNative()) {
      throw new IllegalArgumentException("memory on the heap has no address");
    }
    return memory.address();
  }
}
