// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import java.lang.foreign.MemorySegment;

/**
 * The operations of KNEM. A process declares memory as a region, which has a cookie; another
 * process copies from or to the region by the cookie.
 *
 * <p>A region consists of pages, not addresses: it pins the pages mapped at its creation. They stay
 * pinned after the process has unmapped them, and pages mapped later in their place do not belong
 * to the region.
 */
public interface Knem {

  /**
   * Creates a region.
   *
   * @param address its address in this process
   * @param length its length in bytes, at least 1
   * @param writable whether other processes may write to it as well as read; if so, the pages are
   *     pinned by a write fault, otherwise by a read fault
   * @return its cookie; 0 if that is not possible, such as for writing to a read-only mapping
   */
  long createRegion(long address, long length, boolean writable);

  /**
   * Destroys a region; later uses of its cookie fail.
   *
   * @param cookie the region's cookie
   */
  void destroyRegion(long cookie);

  /**
   * Copies. Allocates nothing. The memory of this process cannot be freed during the call.
   *
   * @param cookie another process's region
   * @param offset the offset in it, in bytes
   * @param local memory of this process
   * @param localOffset the offset in it
   * @param length the number of bytes; must be checked by the caller, because the driver truncates
   *     silently at the region's end
   * @param write whether to copy to the region instead of from it
   * @return 0, or -errno: EINVAL for an unknown cookie, as all are of a process that has ended;
   *     EACCES or EPERM if that is not permitted; EFAULT if the memory of this process is not
   *     mapped
   * @throws IllegalStateException if the memory of this process was freed
   */
  int copy(
      long cookie, long offset, MemorySegment local, long localOffset, long length, boolean write);
}
