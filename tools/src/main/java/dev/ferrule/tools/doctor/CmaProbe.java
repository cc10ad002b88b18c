// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.posix.CrossMemory;
import dev.ferrule.tools.support.ChildProcess;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Reads one word of another process's memory, in the child process of {@link SmChecks}. */
public final class CmaProbe {

  private CmaProbe() {}

  /**
   * Answers with the text of {@link #read}. Without the command line's parser the process takes
   * half the time.
   *
   * @param arguments the id of the other process, and the address of the word in it
   */
  public static void main(String[] arguments) {
    ChildProcess.answer(
        new PrintWriter(System.out),
        read(Integer.parseInt(arguments[0]), Long.parseLong(arguments[1])));
  }

  /**
   * {@return the text of {@link #success} with the word that was read, or the error's name}
   *
   * @param pid the id of the other process
   * @param address the address of the word in that process
   */
  public static String read(int pid, long address) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment word = arena.allocate(ValueLayout.JAVA_LONG);
      long read = new CrossMemory(pid, arena).read(word, 0, address, Long.BYTES);
      if (read < 0) {
        return switch ((int) -read) {
          case 1 -> "EPERM (not permitted)";
          case 3 -> "ESRCH (no such process)";
          case 14 -> "EFAULT (bad address)";
          case 38 -> "ENOSYS (no such system call)";
          default -> "errno " + -read;
        };
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
