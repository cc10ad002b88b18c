// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import dev.ferrule.bindings.libc.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Memory that this process shares with another, in two kinds of access. The program sees it through
 * {@link #view}, which is bounded and dies with the connection's arena. The data plane uses {@link
 * #address}, with no check per access, and so this memory must never go from under it:
 *
 * <ol>
 *   <li>While the connection is open, the memory is mapped from a {@link SealedFile}, which no
 *       process can truncate.
 *   <li>{@link #retire} replaces it, in one step and at the same addresses, by private memory of
 *       zeros. A thread that is still in the data plane reads zeros, which are no message, and
 *       writes what the peer does not see. If there is no memory for that, the shared memory stays.
 *   <li>What is there is unmapped when this object is unreachable. So every method of the data
 *       plane that a program calls ends with a {@link java.lang.ref.Reference#reachabilityFence}.
 * </ol>
 */
public final class SharedMapping {

  private static final System.Logger LOGGER = System.getLogger(SharedMapping.class.getName());

  /** How long unmapping by the garbage collector is given. */
  private static final long COLLECTION_NANOS = 50_000_000;

  private static final int PROTECTION = LibC.PROT_READ() | LibC.PROT_WRITE();

  private static final long PAGE = LibC.getpagesize();
  private static final VarHandle ANY = ValueLayout.JAVA_INT.varHandle();

  private final MemorySegment memory;
  private final MemorySegment view;
  private final AtomicBoolean retired = new AtomicBoolean();

  private SharedMapping(MemorySegment memory, MemorySegment view) {
    this.memory = memory;
    this.view = view;
  }

  static SharedMapping of(int fd, long size, long populated, Arena views) {
    MemorySegment mapped = mmap(fd, size);
    // of no arena that anyone closes: unmapped when it is unreachable
    MemorySegment memory =
        mapped.reinterpret(size, Arena.ofAuto(), gone -> Posix.munmap(gone, size));
    populate(mapped.reinterpret(populated));
    return new SharedMapping(memory, mapped.reinterpret(size, views, null));
  }

  private static MemorySegment mmap(int fd, long size) {
    String subject = size + " bytes of shared memory";
    try {
      return Posix.mmap(size, PROTECTION, LibC.MAP_SHARED(), fd, subject);
    } catch (PosixException e) {
      if (!e.is(LibC.ENOMEM())) {
        throw e;
      }
      // perhaps the limit of mappings (vm.max_map_count), and memory of connections that were
      // closed waits for the garbage collector, which has no reason of its own to run
      System.gc();
      LockSupport.parkNanos(COLLECTION_NANOS);
      return Posix.mmap(size, PROTECTION, LibC.MAP_SHARED(), fd, subject);
    }
  }

  /**
   * Maps the pages of the beginning. Not by another mmap(2) in place: one that fails, as it does
   * where the peer has added F_SEAL_FUTURE_WRITE, leaves a hole on kernels before 6.12, which
   * another mapping of this process may fill before it is unmapped with the rest.
   */
  private static void populate(MemorySegment part) {
    int result = Posix.madvise(part, LibC.MADV_POPULATE_READ());
    if (result == -LibC.EINVAL()) { // before 5.14
      for (long offset = 0; offset < part.byteSize(); offset += PAGE) {
        ANY.getOpaque(part, offset);
      }
    } else if (result < 0) {
      throw new PosixException("madvise", part.byteSize() + " bytes of shared memory", -result);
    }
  }

  /**
   * Returns where the memory is.
   *
   * @return the address, valid as long as this object is reachable
   */
  public long address() {
    return memory.address();
  }

  /**
   * Returns how large it is.
   *
   * @return the size in bytes
   */
  public long size() {
    return memory.byteSize();
  }

  /**
   * Returns what the program may see slices of.
   *
   * @return a segment of the arena of the views
   */
  public MemorySegment view() {
    return view;
  }

  /**
   * Allocates pages that were not allocated when it was mapped.
   *
   * @param offset where they begin
   * @param length how many bytes, whose pages are allocated
   * @return 0, or the error if there is no memory for it. A kernel before 5.14 cannot do so, and
   *     allocates a page when it is first touched
   */
  public int populate(long offset, long length) {
    long start = offset & -PAGE;
    long end = offset + length + PAGE - 1 & -PAGE;
    int result = Posix.madvise(memory.asSlice(start, end - start), LibC.MADV_POPULATE_WRITE());
    return result == -LibC.EINVAL() ? 0 : -result;
  }

  /**
   * Frees pages of the file, which both sides then see as zeros. Whether that is possible does not
   * matter.
   *
   * @param offset where they begin, a multiple of the size of a page
   * @param length how many bytes, of which only whole pages are freed
   */
  public void discard(long offset, long length) {
    if (!retired.get()) {
      int ignored = Posix.madvise(memory.asSlice(offset, length & -PAGE), LibC.MADV_REMOVE());
    }
  }

  /**
   * Replaces the memory by private memory of zeros: the peer's is neither read nor written any
   * more. The view stays valid until its arena is closed. Doing so again does nothing.
   *
   * <p>If a limit leaves no room for the private memory, the shared memory stays mapped until this
   * object is unreachable. That costs memory, but an access stays as harmless as it was.
   */
  public void retire() {
    if (!retired.compareAndSet(false, true)) {
      return;
    }
    // Not by mmap(2) in place: with vm.overcommit_memory=2, to which MAP_NORESERVE means nothing,
    // it may fail, and on kernels before 6.12 it leaves a hole then.
    long size = memory.byteSize();
    MemorySegment zeros;
    try {
      int flags = LibC.MAP_PRIVATE() | LibC.MAP_ANONYMOUS() | LibC.MAP_NORESERVE();
      zeros = Posix.mmap(size, PROTECTION, flags, -1, size + " bytes in place of shared memory");
    } catch (PosixException e) {
      LOGGER.log(System.Logger.Level.DEBUG, "shared memory stays mapped for a while", e);
      return;
    }
    int result = Posix.replaceMapping(memory, zeros, size);
    if (result < 0) {
      LOGGER.log(
          System.Logger.Level.DEBUG,
          () -> "shared memory stays mapped for a while; mremap: errno " + -result);
      Posix.munmap(zeros, size);
    }
  }
}
