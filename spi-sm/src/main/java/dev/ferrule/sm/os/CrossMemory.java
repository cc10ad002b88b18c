// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import dev.ferrule.bindings.libc.iovec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Cross-memory attach: copies from and to the memory of another process by {@code process_vm_readv}
 * and {@code process_vm_writev}, without that process's doing. Allocates nothing.
 *
 * <p>One thread at a time uses one.
 */
public final class CrossMemory {

  private final int pid;
  private final MemorySegment local;
  private final MemorySegment remote;

  /**
   * Touches nothing yet.
   *
   * @param pid the other process, as this one's PID namespace counts
   * @param arena for a few bytes of its own
   */
  public CrossMemory(int pid, Arena arena) {
    this.pid = pid;
    this.local = iovec.allocate(arena);
    this.remote = iovec.allocate(arena);
  }

  /**
   * Reads.
   *
   * @param into where to
   * @param offset where in it
   * @param remoteAddress where from, in the other process
   * @param length how many bytes
   * @return how many it were, perhaps fewer; or -errno
   * @throws IllegalStateException if the memory of this process was freed
   */
  public long read(MemorySegment into, long offset, long remoteAddress, long length) {
    set(into.address() + offset, remoteAddress, length);
    return Posix.processVmReadv(pid, local, remote, into);
  }

  /**
   * Writes.
   *
   * @param from where from
   * @param offset where in it
   * @param remoteAddress where to, in the other process
   * @param length how many bytes
   * @return how many it were, perhaps fewer; or -errno
   * @throws IllegalStateException if the memory of this process was freed
   */
  public long write(MemorySegment from, long offset, long remoteAddress, long length) {
    set(from.address() + offset, remoteAddress, length);
    return Posix.processVmWritev(pid, local, remote, from);
  }

  private void set(long localAddress, long remoteAddress, long length) {
    iovec.iov_base(local, MemorySegment.ofAddress(localAddress));
    iovec.iov_len(local, length);
    iovec.iov_base(remote, MemorySegment.ofAddress(remoteAddress));
    iovec.iov_len(remote, length);
  }
}
