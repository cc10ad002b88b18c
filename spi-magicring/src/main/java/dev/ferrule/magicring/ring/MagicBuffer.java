// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import dev.ferrule.posix.RawMemory;
import dev.ferrule.rdma.memory.NativeMemory;
import dev.ferrule.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;

/**
 * The memory of a ring, mapped twice, back to back: bytes beyond the end of the first mapping alias
 * its start, so a message that wraps around is contiguous.
 *
 * {@snippet lang=java :
 * try (MagicBuffer ring = MagicBuffer.allocate(4096)) {
 *   ring.segment().set(ValueLayout.JAVA_BYTE, 4096 + 5, (byte) 7);
 *   System.out.println(ring.segment().get(ValueLayout.JAVA_BYTE, 5)); // 7
 * }
 * }
 *
 * <p>The memory is zeroed and committed on allocation, so that a later access cannot fail for lack
 * of memory. A program may register {@link #segment} with a device, both mappings in one memory
 * region.
 *
 * <p><b>Threads:</b> safe for use by several threads.
 *
 * <p>Source: the protocol "Magic WriteSimplexConnection" of the KnowYourMemory thesis; mmap(2),
 * memfd_create(2).
 */
public final class MagicBuffer implements AutoCloseable {

  private static final String NAME = "ferrule-ring";
  private static final long HUGE_PAGE = 2L << 20;
  private static final int LOG_HUGE_PAGE = 21;

  /** Requests pages of 2 MiB explicitly, as the system's default huge page size may differ. */
  private static final int HUGE_FLAGS = Posix.MFD_HUGETLB | LOG_HUGE_PAGE << Posix.MAP_HUGE_SHIFT;

  private static final long PAGE = Posix.PAGE;

  private final MemorySegment segment;
  private final long size;
  private final boolean huge;

  private MagicBuffer(long address, long size, boolean huge) {
    this.size = size;
    this.huge = huge;
    this.segment =
        RawMemory.segment(address, 2 * size, Arena.ofAuto(), mapped -> unmap(address, 2 * size));
  }

  /**
   * Allocates a buffer.
   *
   * @param size the size in bytes, a positive multiple of the {@linkplain #pageSize page size}
   * @return the buffer, to be closed
   * @throws IllegalArgumentException if the size is invalid
   * @throws VerbsException if the system lacks memory (ENOMEM) or descriptors (EMFILE)
   */
  public static MagicBuffer allocate(long size) {
    check(size);
    NativeMemory.checkAvailable("memfd_create", size, "use a smaller ring");
    return new MagicBuffer(
        asVerbs(() -> NativeMemory.withRoom(() -> map(size, PAGE, 0))), size, false);
  }

  /**
   * Allocates a buffer in huge pages of 2 MiB if the system has reserved enough of them and the
   * size is a multiple of 2 MiB, in normal pages otherwise; see {@link #isHuge}.
   *
   * @param size as for {@link #allocate}
   * @return the buffer, to be closed
   * @throws IllegalArgumentException if the size is invalid
   * @throws VerbsException as for {@link #allocate}
   */
  public static MagicBuffer allocateHuge(long size) {
    check(size);
    if (size % HUGE_PAGE == 0) {
      try {
        return new MagicBuffer(asVerbs(() -> map(size, HUGE_PAGE, HUGE_FLAGS)), size, true);
      } catch (VerbsException e) {
        return allocate(size); // few systems reserve huge pages
      }
    }
    return allocate(size);
  }

  private static void check(long size) {
    if (size < 1 || size % PAGE != 0 || size > Long.MAX_VALUE / 4) {
      throw new IllegalArgumentException(
          "a ring of "
              + size
              + " bytes cannot be mapped twice: use a multiple of the page size, "
              + PAGE);
    }
  }

  /** {@return the size of a page in bytes, a power of two} */
  public static long pageSize() {
    return PAGE;
  }

  private static long asVerbs(LongSupplier map) {
    try {
      return map.getAsLong();
    } catch (PosixException e) {
      throw new VerbsException(e.function(), e.subject(), e.errno());
    }
  }

  private static long map(long size, long alignment, int flags) {
    int file = Posix.memfdCreate(NAME, Posix.MFD_CLOEXEC | flags);
    if (file < 0) {
      throw new PosixException("memfd_create", NAME, -file);
    }
    try {
      commit(file, size);
      return mapTwice(file, size, alignment);
    } finally {
      Posix.close(file); // the mappings keep the file open
    }
  }

  private static void commit(int file, long size) {
    String subject = size + " bytes";
    Posix.ftruncate(file, size, subject);
    int error = Posix.posixFallocate(file, 0, size);
    if (error != 0) {
      throw new PosixException("posix_fallocate", subject, error);
    }
  }

  /**
   * Reserves the address range of both mappings, then maps over it. No part of the range is
   * unmapped in between, so no mapping of another thread can be placed there or replaced.
   */
  private static long mapTwice(int file, long size, long alignment) {
    String subject = "2 times " + size + " bytes";
    long reserved = 2 * size + alignment - PAGE;
    int none = Posix.MAP_PRIVATE | Posix.MAP_ANONYMOUS | Posix.MAP_NORESERVE;
    long start = Posix.mmap(reserved, Posix.PROT_NONE, none, -1, subject).address();
    long first = (start + alignment - 1) / alignment * alignment;
    int protection = Posix.PROT_READ | Posix.PROT_WRITE;
    boolean done = false;
    try {
      Posix.mmapOver(first, size, protection, Posix.MAP_SHARED, file, subject);
      Posix.mmapOver(first + size, size, protection, Posix.MAP_SHARED, file, subject);
      done = true;
    } finally {
      if (!done) {
        unmap(start, reserved);
      }
    }
    unmap(start, first - start);
    unmap(first + 2 * size, start + reserved - first - 2 * size);
    return first;
  }

  private static void unmap(long address, long length) {
    if (length > 0) {
      Posix.tryMunmap(address, length);
    }
  }

  /**
   * Returns both mappings.
   *
   * @return a segment of twice the {@linkplain #size size}, which stays mapped as long as it is
   *     reachable; any thread may access it
   */
  public MemorySegment segment() {
    return segment;
  }

  /**
   * Returns the size of the buffer.
   *
   * @return the size of one mapping in bytes
   */
  public long size() {
    return size;
  }

  /** {@return whether the buffer is in huge pages} */
  public boolean isHuge() {
    return huge;
  }

  /**
   * Frees the pages, which read as zeros from then on. Memory regions of a device must be
   * deregistered first. Closing twice has no effect.
   */
  @Override
  public void close() {
    int ignored = Posix.madvise(segment.asSlice(0, size), Posix.MADV_REMOVE);
  }
}
