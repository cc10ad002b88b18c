// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.posix.CrossMemory;
import dev.ferrule.posix.Posix;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;

/**
 * A copy without a protocol, measured as the floor of remote memory access.
 *
 * @param name the name of the call in C
 * @param bytes the length
 * @param copy copies once; returns the number of bytes, or a negative error number
 */
record BareCopy(String name, long bytes, LongSupplier copy) {

  private static final long PAGE = 4096;

  /** Returns a copy by one thread within one process, of bytes that no other thread accesses. */
  static BareCopy plain(Arena arena, int size) {
    MemorySegment from = arena.allocate(size, PAGE).fill((byte) 1);
    MemorySegment to = arena.allocate(size, PAGE).fill((byte) 2);
    return new BareCopy(
        "memcpy",
        size,
        () -> {
          MemorySegment.copy(from, 0, to, 0, size);
          return size;
        });
  }

  /**
   * Returns the system call that copies between two processes, repeated with the same arguments. It
   * copies between the same bytes of the same processes as the measured remote memory access. A
   * copy within one process would be cheaper, since no permission is checked, and other bytes might
   * be in other caches.
   */
  static BareCopy crossMemory(
      Arena arena, MemorySegment memory, ExposureMessage exposure, boolean write) {
    CrossMemory process = new CrossMemory(Math.toIntExact(exposure.pid()), arena);
    long address = exposure.address();
    long bytes = memory.byteSize();
    return write
        ? new BareCopy("process_vm_writev", bytes, () -> process.write(memory, 0, address, bytes))
        : new BareCopy("process_vm_readv", bytes, () -> process.read(memory, 0, address, bytes));
  }

  /** Copies the given number of times. */
  void run(long count) {
    for (long i = 0; i < count; i++) {
      long copied = copy.getAsLong();
      if (copied != bytes) {
        throw new ToolException(
            ExitCode.FAILED,
            name
                + ": "
                + (copied < 0
                    ? Posix.strerror((int) -copied)
                    : "copied only " + copied + " bytes"));
      }
    }
  }
}
