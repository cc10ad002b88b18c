// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import java.lang.foreign.MemorySegment;

/**
 * What KNEM does: memory of one process is made a region, which has a cookie; another process
 * copies from or to it by that.
 *
 * <p>A region is of pages and not of addresses: it pins those that are mapped when it is made. They
 * stay pinned when the process no longer has them, and what it has instead is not in the region.
 */
public interface Knem {

  /**
   * Makes a region.
   *
   * @param address where it is in this process
   * @param length its length in bytes, at least 1
   * @param writable whether others may write to it, and not only read; if so, the pages are pinned
   *     by a write fault, otherwise by a read fault
   * @return its cookie; 0 if that is not possible, such as for writing in a mapping for reading
   */
  long createRegion(long address, long length, boolean writable);

  /**
   * Gives a region up; whoever uses its cookie from now on gets an error.
   *
   * @param cookie the region's cookie
   */
  void destroyRegion(long cookie);

  /**
   * Copies. Allocates nothing. The memory of this process cannot be freed meanwhile.
   *
   * @param cookie another process's region
   * @param offset where in it, in bytes
   * @param local where in this process
   * @param localOffset where in it
   * @param length how many bytes; the driver stops at the region's end and says nothing, so this is
   *     to be checked before
   * @param write whether to copy to the region, and not from it
   * @return 0, or -errno: EINVAL for an unknown cookie, as all are of a process that has ended;
   *     EACCES or EPERM if that is not permitted; EFAULT if the memory of this process is not there
   * @throws IllegalStateException if the memory of this process was freed
   */
  int copy(
      long cookie, long offset, MemorySegment local, long localOffset, long length, boolean write);
}
