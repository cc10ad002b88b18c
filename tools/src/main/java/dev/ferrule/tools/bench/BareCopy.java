// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.bindings.libc.iovec;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The least that copying takes, to be measured beside remote memory access: what the kernel's call
 * takes within one process, or a plain copy.
 */
final class BareCopy {

  private final boolean byKernel;
  private final boolean write;
  private final MemorySegment from;
  private final MemorySegment to;
  private final MemorySegment fromVector;
  private final MemorySegment toVector;
  private final int pid = Math.toIntExact(ProcessHandle.current().pid());

  /**
   * Makes both ends of a copy.
   *
   * @param arena what to allocate them by
   * @param size how many bytes
   * @param byKernel whether to copy by cross-memory attach, and not in this thread
   * @param write which of its two calls
   */
  BareCopy(Arena arena, int size, boolean byKernel, boolean write) {
    this.byKernel = byKernel;
    this.write = write;
    this.from = arena.allocate(size, 4096).fill((byte) 1);
    this.to = arena.allocate(size, 4096).fill((byte) 2);
    this.fromVector = vector(arena, from);
    this.toVector = vector(arena, to);
  }

  private static MemorySegment vector(Arena arena, MemorySegment memory) {
    MemorySegment vector = iovec.allocate(arena);
    iovec.iov_base(vector, memory);
    iovec.iov_len(vector, memory.byteSize());
    return vector;
  }

  /** What it does, by its name in C. */
  String name() {
    if (!byKernel) {
      return "memcpy";
    }
    return write ? "process_vm_writev" : "process_vm_readv";
  }

  /** Copies so many times. */
  void run(long count) {
    for (long i = 0; i < count; i++) {
      if (byKernel) {
        byKernel();
      } else {
        MemorySegment.copy(from, 0, to, 0, from.byteSize());
      }
    }
  }

  private void byKernel() {
    long copied =
        write
            ? LibC.process_vm_writev(pid, fromVector, 1, toVector, 1, 0)
            : LibC.process_vm_readv(pid, toVector, 1, fromVector, 1, 0);
    if (copied != from.byteSize()) {
      throw new ToolException(ExitCode.FAILED, name() + " copied " + copied + " bytes only");
    }
  }
}
