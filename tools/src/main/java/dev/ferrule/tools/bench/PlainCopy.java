// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A copy by one thread within one process, of bytes that no other thread accesses. */
final class PlainCopy implements BareCopy {

  private static final long PAGE = 4096;

  private final MemorySegment from;
  private final MemorySegment to;

  /**
   * Allocates both ends of a copy.
   *
   * @param arena allocates the memory
   * @param size the number of bytes
   */
  PlainCopy(Arena arena, int size) {
    this.from = arena.allocate(size, PAGE).fill((byte) 1);
    this.to = arena.allocate(size, PAGE).fill((byte) 2);
  }

  @Override
  public String name() {
    return "memcpy";
  }

  @Override
  public void run(long count) {
    for (long i = 0; i < count; i++) {
      MemorySegment.copy(from, 0, to, 0, from.byteSize());
    }
  }
}
