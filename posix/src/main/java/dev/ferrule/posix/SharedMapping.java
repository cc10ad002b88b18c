// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import dev.ferrule.posix.libc.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Memory that this process shares with another process. The program accesses slices of {@link
 * #view}. The data plane accesses the memory by its {@link #address}, without checks, so it must
 * never be unmapped during an access:
 *
 * <ol>
 *   <li>While the connection is open, the memory is mapped from a {@link SealedFile}, which no
 *       process can truncate.
 *   <li>{@link #retire} replaces it, in one step and at the same addresses, by private memory of
 *       zeros. A thread that is still in the data plane reads zeros, which are no message, and its
 *       writes do not reach the peer. If there is no memory for that, the shared memory stays.
 *   <li>The mapping is removed when this object and all slices of the view are unreachable. Every
 *       method of the data plane that a program calls therefore ends with a {@link
 *       java.lang.ref.Reference#reachabilityFence}.
 * </ol>
 */
public final class SharedMapping {

  private static final System.Logger LOGGER = System.getLogger(SharedMapping.class.getName());

  private static final int PROTECTION = Posix.PROT_READ | Posix.PROT_WRITE;

  private static final long PAGE = Posix.PAGE;

  private static final VarHandle ANY = ValueLayout.JAVA_INT.varHandle();

  private final MemorySegment memory;
  private final AddressSpace space;
  private final AtomicBoolean waits; // for the garbage collector
  private volatile boolean retired;

  /** Takes over a mapping, to be removed when this object is unreachable. */
  private SharedMapping(AddressSpace space, MemorySegment mapped, long size) {
    AtomicBoolean ended = new AtomicBoolean();
    this.space = space;
    this.memory =
        mapped.reinterpret(size, Arena.ofAuto(), gone -> unmap(space, gone, size, ended.get()));
    this.waits = ended;
  }

  static SharedMapping of(AddressSpace space, int fd, long size, long populated, long maxMapped) {
    MemorySegment mapped = mmap(space, fd, size, maxMapped);
    return populated(new SharedMapping(space, mapped, size), mapped.reinterpret(populated));
  }

  private static MemorySegment mmap(AddressSpace space, int fd, long size, long maxMapped) {
    String subject = size + " bytes of shared memory";
    space.add(size, maxMapped, subject);
    boolean mapped = false;
    try {
      MemorySegment result =
          withRoom(space, () -> Posix.mmap(size, PROTECTION, Posix.MAP_SHARED, fd, subject));
      mapped = true;
      return result;
    } finally {
      if (!mapped) {
        space.remove(size, false);
      }
    }
  }

  /** Maps something, a second time if there was no room. */
  static MemorySegment withRoom(AddressSpace space, Supplier<MemorySegment> map) {
    try {
      return map.get();
    } catch (PosixException e) {
      // Possibly the limit of mappings (vm.max_map_count).
      if (!e.is(Errno.ENOMEM) || !space.makeRoom()) {
        throw e;
      }
      return map.get();
    }
  }

  /**
   * Maps the pages of the start. Not by another mmap(2) in place: on kernels before 6.12, a failure
   * leaves a hole, such as after the peer has added F_SEAL_FUTURE_WRITE. Another mapping of this
   * process may fill the hole, and would be unmapped with the rest.
   */
  private static void populate(MemorySegment part) {
    int result = Posix.madvise(part, LibC.MADV_POPULATE_READ());
    if (result == -Errno.EINVAL) { // before 5.14
      for (long offset = 0; offset < part.byteSize(); offset += PAGE) {
        ANY.getOpaque(part, offset);
      }
    } else if (result < 0) {
      throw new PosixException("madvise", part.byteSize() + " bytes of shared memory", -result);
    }
  }

  /**
   * Returns the address of the memory.
   *
   * @return the address, valid as long as this object is reachable
   */
  public long address() {
    return memory.address();
  }

  /**
   * Maps a part of this memory a second time. The result is {@linkplain #retire retired}
   * separately.
   *
   * @param offset the start of the part, a multiple of the page size
   * @param length the number of bytes
   * @return the other mapping of the same pages
   * @throws PosixException ENOMEM if a limit leaves no room for it, EINVAL if this memory is
   *     retired
   */
  public SharedMapping duplicate(long offset, long length) {
    long whole = length + PAGE - 1 & -PAGE;
    MemorySegment start = memory.asSlice(offset);
    MemorySegment mapped = withRoom(space, () -> Posix.duplicateMapping(start, whole));
    space.add(whole, Long.MAX_VALUE, "a part of shared memory");
    SharedMapping part = new SharedMapping(space, mapped, whole);
    return populated(part, mapped);
  }

  /** Maps the pages of the start; if that fails, retires the mapping. */
  private static SharedMapping populated(SharedMapping mapping, MemorySegment start) {
    boolean done = false;
    try {
      populate(start);
      done = true;
      return mapping;
    } finally {
      if (!done) {
        mapping.retire();
      }
    }
  }

  private static void unmap(AddressSpace space, MemorySegment mapped, long size, boolean waited) {
    Posix.munmap(mapped, size);
    space.remove(size, waited);
  }

  /** {@return the size of the memory, in bytes} */
  public long size() {
    return memory.byteSize();
  }

  /**
   * Returns the segment of which the program may see slices.
   *
   * @return the memory, which stays mapped as long as it or a slice is reachable
   */
  public MemorySegment view() {
    return memory;
  }

  /**
   * Allocates pages that were not allocated by the mapping.
   *
   * @param offset the start
   * @param length the number of bytes whose pages are allocated
   * @return 0, or the error if there is no memory for them. A kernel before 5.14 cannot do so, and
   *     allocates a page on its first access
   */
  public int populate(long offset, long length) {
    long start = offset & -PAGE; // the kernel rounds the end, which may be that of the memory
    MemorySegment part = memory.asSlice(start, offset + length - start);
    int result = Posix.madvise(part, LibC.MADV_POPULATE_WRITE());
    return result == -Errno.EINVAL ? 0 : -result;
  }

  /**
   * Sets a part of the file to zero, for both sides, and frees the pages that are wholly in it.
   *
   * @param offset the start
   * @param length the number of bytes
   * @return whether it is zero: not if the pages cannot be freed, or the memory is {@linkplain
   *     #retire retired}
   */
  public boolean discard(long offset, long length) {
    if (retired) {
      return false;
    }
    // Pages may be larger than the 4096 bytes of which most offsets are multiples.
    long end = offset + length;
    long firstPage = Math.min(offset + PAGE - 1 & -PAGE, end);
    long afterPages = Math.max(end & -PAGE, firstPage);
    memory.asSlice(offset, firstPage - offset).fill((byte) 0);
    memory.asSlice(afterPages, end - afterPages).fill((byte) 0);
    MemorySegment pages = memory.asSlice(firstPage, afterPages - firstPage);
    return pages.byteSize() == 0 || Posix.madvise(pages, Posix.MADV_REMOVE) >= 0;
  }

  /**
   * Replaces the memory by private memory of zeros, so that later accesses do not reach the peer's
   * memory. Several threads may call this at the same time.
   *
   * <p>If a limit leaves no room for the private memory, the shared memory stays mapped until this
   * object is unreachable. That costs memory, but accesses stay harmless.
   *
   * @return whether the memory is replaced when this returns, by this call or an earlier one
   */
  public boolean retire() {
    if (retired) {
      return true;
    }
    long size = memory.byteSize();
    if (waits.compareAndSet(false, true)) {
      space.await(size);
    }
    // Not by mmap(2) in place: with vm.overcommit_memory=2, which ignores MAP_NORESERVE, it may
    // fail, and on kernels before 6.12 it then leaves a hole.
    MemorySegment zeros;
    try {
      int flags = Posix.MAP_PRIVATE | Posix.MAP_ANONYMOUS | Posix.MAP_NORESERVE;
      zeros = Posix.mmap(size, PROTECTION, flags, -1, size + " bytes in place of shared memory");
    } catch (PosixException e) {
      LOGGER.log(System.Logger.Level.DEBUG, "shared memory stays mapped until it is collected", e);
      return false;
    }
    int result = Posix.replaceMapping(memory, zeros, size);
    if (result < 0) {
      LOGGER.log(
          System.Logger.Level.DEBUG,
          () -> "shared memory stays mapped until it is collected; mremap: errno " + -result);
      Posix.munmap(zeros, size);
      return false;
    }
    retired = true;
    return true;
  }
}
