// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import dev.ferrule.bindings.libc.cpu_set_t;
import dev.ferrule.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** The processor affinity of threads. */
public final class Affinity {

  private static final long SET_BYTES = cpu_set_t.sizeof();

  private Affinity() {}

  /**
   * Returns the processors that the calling thread may run on.
   *
   * @return their numbers, ascending; empty if unknown
   */
  public static List<Integer> allowed() {
    List<Integer> cpus = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment set = arena.allocate(cpu_set_t.layout());
      if (Posix.schedGetaffinity(set) < 0) {
        return cpus;
      }
      for (int cpu = 0; cpu < SET_BYTES * Byte.SIZE; cpu++) {
        if ((set.get(ValueLayout.JAVA_BYTE, cpu / Byte.SIZE) >> (cpu % Byte.SIZE) & 1) != 0) {
          cpus.add(cpu);
        }
      }
    }
    return cpus;
  }

  /**
   * Pins the calling thread to a processor. Threads that it starts later inherit that.
   *
   * @param cpu the processor's number
   * @return whether the system allowed it
   */
  public static boolean pin(int cpu) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment set = arena.allocate(cpu_set_t.layout());
      set.set(ValueLayout.JAVA_BYTE, cpu / Byte.SIZE, (byte) (1 << (cpu % Byte.SIZE)));
      return Posix.schedSetaffinity(set) == 0;
    }
  }
}
