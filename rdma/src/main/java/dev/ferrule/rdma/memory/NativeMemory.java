// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.memory;

import dev.ferrule.verbs.Errno;
import dev.ferrule.verbs.VerbsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** Allocates large memory, with an exception if the system has too little available. */
public final class NativeMemory {

  private static final Path MEMORY_INFO = Path.of("/proc/meminfo");
  private static final long KIBIBYTE = 1024;

  private NativeMemory() {}

  /**
   * Allocates zeroed memory.
   *
   * @param arena allocates the memory
   * @param size its size in bytes
   * @param alignment the alignment in bytes
   * @param advice the advice in the exception
   * @return the memory
   * @throws VerbsException ENOMEM if the system lacks memory
   */
  public static MemorySegment allocate(Arena arena, long size, long alignment, String advice) {
    checkAvailable("malloc", size, advice);
    try {
      return arena.allocate(size, alignment);
    } catch (OutOfMemoryError e) {
      throw new VerbsException("malloc", size + " bytes", Errno.ENOMEM, advice, e);
    }
  }

  /**
   * Checks the available memory before an allocation for which the kernel might kill this process
   * or another one.
   *
   * @param function the C function that allocates
   * @param size the size in bytes
   * @param advice the advice in the exception
   * @throws VerbsException ENOMEM if the system has less available
   */
  static void checkAvailable(String function, long size, String advice) {
    OptionalLong available = available();
    if (available.isPresent() && size > available.getAsLong()) {
      throw new VerbsException(
          function,
          size + " bytes",
          Errno.ENOMEM,
          "the system has " + available.getAsLong() + " bytes available; " + advice,
          null);
    }
  }

  private static OptionalLong available() {
    try (Stream<String> lines = Files.lines(MEMORY_INFO)) {
      return lines
          .filter(line -> line.startsWith("MemAvailable:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * KIBIBYTE)
          .findFirst();
    } catch (IOException | UncheckedIOException | NumberFormatException e) {
      return OptionalLong.empty(); // unknown
    }
  }
}
