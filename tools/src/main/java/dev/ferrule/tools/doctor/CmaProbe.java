// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.posix.CrossMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;

/**
 * Reads one word of another process's memory; run by the child process of {@link
 * CrossMemoryAttachCheck}.
 */
public final class CmaProbe {

  private static final Map<Integer, String> ERRORS =
      Map.of(
          1,
          "EPERM (not permitted)",
          3,
          "ESRCH (no such process)",
          14,
          "EFAULT (bad address)",
          38,
          "ENOSYS (no such call)");

  private CmaProbe() {}

  /**
   * Reads a word.
   *
   * @param pid the other process
   * @param address where in its memory the word is
   * @return {@link #success} of the word, or the error's name
   */
  public static String read(int pid, long address) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment word = arena.allocate(ValueLayout.JAVA_LONG);
      long read = new CrossMemory(pid, arena).read(word, 0, address, Long.BYTES);
      if (read < 0) {
        return ERRORS.getOrDefault((int) -read, "errno " + -read);
      }
      return read == Long.BYTES
          ? success(word.get(ValueLayout.JAVA_LONG, 0))
          : read + " bytes instead of " + Long.BYTES;
    }
  }

  static String success(long word) {
    return "read " + word;
  }
}
