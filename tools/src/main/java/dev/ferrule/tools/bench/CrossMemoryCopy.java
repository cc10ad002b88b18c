// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.posix.CrossMemory;
import dev.ferrule.posix.Posix;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The system call that copies between two processes, repeated with the same arguments. It copies
 * between the same bytes of the same processes as the remote memory access that is measured: a copy
 * within one process is cheaper, as no permission is checked, and other bytes may be in other
 * caches.
 */
final class CrossMemoryCopy implements BareCopy {

  private final boolean write;
  private final CrossMemory process;
  private final MemorySegment memory;
  private final long address;

  /**
   * Prepares the call.
   *
   * @param arena allocates the arguments
   * @param memory of this process
   * @param exposure memory of the other process, of the same length
   * @param write whether to copy to the other process
   */
  CrossMemoryCopy(Arena arena, MemorySegment memory, ExposureMessage exposure, boolean write) {
    this.write = write;
    this.process = new CrossMemory(Math.toIntExact(exposure.pid()), arena);
    this.memory = memory;
    this.address = exposure.address();
  }

  @Override
  public String name() {
    return write ? "process_vm_writev" : "process_vm_readv";
  }

  @Override
  public void run(long count) {
    for (long i = 0; i < count; i++) {
      long copied = copy();
      if (copied != memory.byteSize()) {
        throw new ToolException(ExitCode.FAILED, name() + ": " + outcome(copied));
      }
    }
  }

  private static String outcome(long copied) {
    return copied < 0 ? Posix.strerror((int) -copied) : "copied only " + copied + " bytes";
  }

  /** Copies once; returns whether all was copied. */
  boolean once() {
    return copy() == memory.byteSize();
  }

  private long copy() {
    return write
        ? process.write(memory, 0, address, memory.byteSize())
        : process.read(memory, 0, address, memory.byteSize());
  }
}
