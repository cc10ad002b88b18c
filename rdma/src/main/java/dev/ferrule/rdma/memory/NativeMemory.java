// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.memory;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import dev.ferrule.posix.RawMemory;
import dev.ferrule.support.Threads;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.VerbsException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * Allocates large memory, and throws if the system has too little available. The memory is unmapped
 * when it is unreachable, so accessing a segment that a program has kept never crashes.
 */
public final class NativeMemory {

  private static final Path MEMORY_INFO = Path.of("/proc/meminfo");
  private static final String AVAILABLE = "\nMemAvailable:";
  private static final int INFO_BYTES = 256; // MemAvailable is in the third line
  private static final long KIBIBYTE = 1024;

  /** The time to wait until unreachable mappings are removed. */
  private static final long REMOVAL_NANOS = 100_000_000;

  private NativeMemory() {}

  /**
   * Allocates zeroed memory in pages of its own. The call populates the pages as far as memory is
   * available: registration needs them, and allocating them one by one on first access takes
   * several times as long. The memory does not count towards the JVM's {@code MaxDirectMemorySize}.
   *
   * @param arena an automatic arena, which frees the memory
   * @param size its size in bytes, positive
   * @param advice the advice in the exception
   * @return the memory
   * @throws VerbsException ENOMEM if the system lacks memory
   */
  public static MemorySegment allocate(Arena arena, long size, String advice) {
    int protection = Posix.PROT_READ | Posix.PROT_WRITE;
    int flags = Posix.MAP_PRIVATE | Posix.MAP_ANONYMOUS | Posix.MAP_POPULATE;
    try {
      long address =
          withRoom(() -> {
            checkAvailable("mmap", size, advice);
            return Posix.mmap(size, protection, flags, -1, size + " bytes").address();
          });
      return RawMemory.segment(address, size, arena, memory -> Posix.tryMunmap(address, size));
    } catch (PosixException e) {
      throw new VerbsException(e.function(), e.subject(), e.errno(), advice, e);
    }
  }

  /**
   * Maps memory. If there is no room, runs the garbage collector, which removes mappings of closed
   * connections, and tries once more.
   *
   * @param <T> the type of the result
   * @param map maps the memory
   * @return its result
   * @throws PosixException ENOMEM if there is no room
   */
  public static <T> T withRoom(Supplier<T> map) {
    try {
      return map.get();
    } catch (PosixException e) {
      if (!e.is(Errno.ENOMEM)) {
        throw e;
      }
    } catch (VerbsException e) {
      if (e.errno() != Errno.ENOMEM) {
        throw e;
      }
    }
    System.gc();
    Threads.pause(REMOVAL_NANOS);
    return map.get();
  }

  /**
   * Registers memory of {@link #allocate}, or discards it.
   *
   * @param memory the memory
   * @param register registers it
   * @return the region
   */
  public static MemoryRegion registered(MemorySegment memory, Supplier<MemoryRegion> register) {
    try {
      return register.get();
    } catch (Throwable e) {
      discard(memory);
      throw e;
    }
  }

  /**
   * Frees the pages of memory whose registrations have ended. From then on it reads as zeros.
   *
   * @param memory memory of {@link #allocate}
   */
  public static void discard(MemorySegment memory) {
    int ignored =
        Posix.madvise(
            memory, Posix.MADV_DONTNEED); // if it fails, the pages are freed with the arena
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
  public static void checkAvailable(String function, long size, String advice) {
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
    try (InputStream file = Files.newInputStream(MEMORY_INFO)) {
      String start = new String(file.readNBytes(INFO_BYTES), StandardCharsets.US_ASCII);
      int name = start.indexOf(AVAILABLE);
      int unit = start.indexOf(" kB", name);
      if (name < 0 || unit < 0) {
        return OptionalLong.empty();
      }
      String number = start.substring(name + AVAILABLE.length(), unit).strip();
      return OptionalLong.of(Long.parseLong(number) * KIBIBYTE);
    } catch (IOException | NumberFormatException e) {
      return OptionalLong.empty(); // unknown
    }
  }
}
