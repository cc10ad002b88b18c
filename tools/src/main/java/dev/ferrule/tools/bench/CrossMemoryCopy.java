// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.bindings.libc.iovec;
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
  private final int pid;
  private final long length;
  private final MemorySegment local;
  private final MemorySegment remote;

  /**
   * Prepares the call.
   *
   * @param arena allocates the arguments
   * @param memory of this process
   * @param exposure memory of the other process, of the same length
   * @param write whether to copy to the other process
   */
  CrossMemoryCopy(Arena arena, MemorySegment memory, Exposure exposure, boolean write) {
    this.write = write;
    this.pid = Math.toIntExact(exposure.pid());
    this.length = memory.byteSize();
    this.local = vector(arena, memory);
    this.remote = vector(arena, MemorySegment.ofAddress(exposure.address()).reinterpret(length));
  }

  private static MemorySegment vector(Arena arena, MemorySegment memory) {
    MemorySegment vector = iovec.allocate(arena);
    iovec.iov_base(vector, memory);
    iovec.iov_len(vector, memory.byteSize());
    return vector;
  }

  @Override
  public String name() {
    return write ? "process_vm_writev" : "process_vm_readv";
  }

  @Override
  public void run(long count) {
    for (long i = 0; i < count; i++) {
      long copied = copy();
      if (copied != length) {
        throw new ToolException(ExitCode.FAILED, name() + " copied only " + copied + " bytes");
      }
    }
  }

  /** Copies once; returns whether all was copied. */
  boolean once() {
    return copy() == length;
  }

  private long copy() {
    return write
        ? LibC.process_vm_writev(pid, local, 1, remote, 1, 0)
        : LibC.process_vm_readv(pid, local, 1, remote, 1, 0);
  }
}
