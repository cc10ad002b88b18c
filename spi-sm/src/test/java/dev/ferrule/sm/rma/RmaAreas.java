// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import dev.ferrule.posix.Credentials;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Areas for remote memory access in ordinary memory of this process. */
final class RmaAreas {

  private RmaAreas() {}

  static RmaArea allocate(Arena arena, long bufferSize) {
    RmaArea area =
        new RmaArea(
            arena.allocate(RmaLayout.SIZE, RmaLayout.LINE).address(),
            arena.allocate(bufferSize, RmaLayout.LINE).address(),
            bufferSize,
            MemorySegment.NULL,
            Credentials.own());
    area.writeDescriptor(1, null);
    return area;
  }
}
