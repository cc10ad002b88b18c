// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import java.util.BitSet;
import java.util.List;

/** The processor affinity of threads. */
public final class Affinity {

  private Affinity() {}

  /**
   * {@return the numbers of the processors that the calling thread may run on, ascending; empty if
   * unknown}
   */
  public static List<Integer> allowed() {
    try {
      return Posix.schedGetaffinity().stream().boxed().toList();
    } catch (PosixException e) {
      return List.of();
    }
  }

  /**
   * Pins the calling thread to a processor. Threads that it starts later inherit the pinning.
   *
   * @param cpu the processor's number
   * @return whether the system allowed it
   */
  public static boolean pin(int cpu) {
    return restrict(List.of(cpu));
  }

  /**
   * Restricts the calling thread to some processors. Threads and processes that it starts later
   * inherit that.
   *
   * @param cpus the processors' numbers, at least one
   * @return whether the system allowed it
   */
  public static boolean restrict(List<Integer> cpus) {
    BitSet mask = new BitSet();
    cpus.forEach(mask::set);
    return Posix.schedSetaffinity(mask) == 0;
  }
}
