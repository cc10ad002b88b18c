// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import java.lang.foreign.MemorySegment;

/** Validates memory that a program registers. */
public final class Registrations {

  private Registrations() {}

  /**
   * Checks that memory can be registered.
   *
   * @param memory the memory
   * @throws IllegalArgumentException if it is on the heap, or confined to one thread
   * @throws IllegalStateException if it has been freed
   */
  public static void check(MemorySegment memory) {
    if (!memory.isNative()) {
      throw new IllegalArgumentException(
          "heap memory cannot be registered; allocate native memory by an Arena");
    }
    if (!memory.scope().isAlive()) {
      throw new IllegalStateException("the memory has been freed: its arena is closed");
    }
    if (!memory.isAccessibleBy(Thread.ofPlatform().unstarted(() -> {}))) {
      throw new IllegalArgumentException(
          "memory confined to one thread cannot be registered; use Arena.ofShared()");
    }
  }
}
