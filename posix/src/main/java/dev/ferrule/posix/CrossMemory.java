// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import dev.ferrule.posix.libc.iovec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Cross-memory attach: copies from and to the memory of another process by {@code process_vm_readv}
 * and {@code process_vm_writev}, without involving that process (one-sided). Allocates nothing.
 *
 * <p><b>Threads:</b> one at a time.
 */
public final class CrossMemory {

  private final int pid;
  private final MemorySegment local;
  private final MemorySegment remote;

  /**
   * Creates an instance; accesses nothing yet.
   *
   * @param pid the other process, in this process's PID namespace
   * @param arena for the arguments of the system calls
   */
  public CrossMemory(int pid, Arena arena) {
    this.pid = pid;
    this.local = iovec.allocate(arena);
    this.remote = iovec.allocate(arena);
  }

  /**
   * Reads from the other process.
   *
   * @param into the destination
   * @param offset the offset in it
   * @param remoteAddress the source, in the other process
   * @param length the number of bytes
   * @return the number of bytes read, possibly fewer; or -errno
   * @throws IllegalStateException if the memory of this process was freed
   */
  public long read(MemorySegment into, long offset, long remoteAddress, long length) {
    set(into.address() + offset, remoteAddress, length);
    return Posix.processVmReadv(pid, local, remote, into);
  }

  /**
   * Writes to the other process.
   *
   * @param from the source
   * @param offset the offset in it
   * @param remoteAddress the destination, in the other process
   * @param length the number of bytes
   * @return the number of bytes written, possibly fewer; or -errno
   * @throws IllegalStateException if the memory of this process was freed
   */
  public long write(MemorySegment from, long offset, long remoteAddress, long length) {
    set(from.address() + offset, remoteAddress, length);
    return Posix.processVmWritev(pid, local, remote, from);
  }

  private void set(long localAddress, long remoteAddress, long length) {
    set(local, localAddress, length);
    set(remote, remoteAddress, length);
  }

  /** Sets the address as a number, because a segment would be an allocation for each copy. */
  private static void set(MemorySegment piece, long address, long length) {
    piece.set(ValueLayout.JAVA_LONG, iovec.iov_base$offset(), address);
    iovec.iov_len(piece, length);
  }
}
