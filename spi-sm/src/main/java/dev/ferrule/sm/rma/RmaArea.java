// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static dev.ferrule.posix.RawMemory.ALL;
import static dev.ferrule.sm.rma.RmaLayout.INT;
import static dev.ferrule.sm.rma.RmaLayout.LONG;

import dev.ferrule.posix.Credentials;
import dev.ferrule.sm.os.Knem;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The area for remote memory access in the shared memory of one side of a connection; see {@link
 * RmaLayout}.
 *
 * @param address its address
 * @param bufferAddress the address of the buffer for fragments
 * @param bufferSize the buffer's size in bytes
 * @param allocatable the program's view of the memory that it allocates to expose
 * @param maker the process that created it
 */
public record RmaArea(
    long address,
    long bufferAddress,
    long bufferSize,
    MemorySegment allocatable,
    Credentials maker) {

  /**
   * Reads the size of the allocatable memory in a peer's file.
   *
   * @param address the area's address
   * @param room the maximum size of it and the buffer for fragments
   * @return the size in bytes; negative if it is not valid
   */
  public static long allocatableSize(long address, long room) {
    long size = (long) LONG.get(ALL, address + RmaLayout.DESCRIPTOR_ALLOCATABLE);
    return size >= 0 && size <= room && size % RmaLayout.PAGE == 0 ? size : -1;
  }

  /**
   * Returns whether a process of this user wrote the area. Addresses and cookies of another user
   * must not be used: they may be those of this process, which would then copy from and to itself.
   */
  boolean isTrusted() {
    return maker.isOwnUser();
  }

  /**
   * Writes this side's descriptor, to zeroed memory.
   *
   * @param generation that of the ring of the same side
   * @param driver KNEM; null if this side creates no KNEM regions
   */
  public void writeDescriptor(long generation, @Nullable Knem driver) {
    INT.set(ALL, address + RmaLayout.DESCRIPTOR_VERSION, RmaLayout.VERSION);
    LONG.set(ALL, address + RmaLayout.DESCRIPTOR_GENERATION, generation);
    LONG.set(ALL, address + RmaLayout.DESCRIPTOR_PID, ProcessHandle.current().pid());
    LONG.set(ALL, address + RmaLayout.DESCRIPTOR_PROBE, Probe.address());
    LONG.set(ALL, address + RmaLayout.DESCRIPTOR_PROBE_VALUE, Probe.value());
    LONG.set(ALL, address + RmaLayout.DESCRIPTOR_PROBE_COOKIE, Probe.cookie(driver));
    LONG.set(ALL, address + RmaLayout.DESCRIPTOR_ALLOCATABLE, allocatable.byteSize());
    LONG.setRelease(ALL, address + RmaLayout.DESCRIPTOR_MAGIC, RmaLayout.MAGIC);
  }

  /**
   * {@return whether it belongs to a ring, and is of this version}
   *
   * @param generation the ring's generation
   */
  public boolean isOf(long generation) {
    return (long) LONG.getAcquire(ALL, address + RmaLayout.DESCRIPTOR_MAGIC) == RmaLayout.MAGIC
        && (int) INT.get(ALL, address + RmaLayout.DESCRIPTOR_VERSION) == RmaLayout.VERSION
        && (long) LONG.get(ALL, address + RmaLayout.DESCRIPTOR_GENERATION) == generation;
  }
}
