// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.PosixException;
import dev.ferrule.posix.SharedMapping;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.TreeMap;

/**
 * The part of this side's file in which its program allocates memory to expose, and which the peer
 * has mapped. Pages take memory only while they are allocated.
 *
 * <p><b>Threads:</b> any thread may call.
 */
public final class AllocatableMemory {

  /** Returned by {@link #allocate} when there is no room. */
  public static final long NONE = -1;

  private final SharedMapping mapping;
  private final long offset;
  private final MemorySegment view;
  // lengths by place; guarded by the monitor
  private final TreeMap<Long, Long> free = new TreeMap<>();

  /**
   * Creates an allocator of free memory.
   *
   * @param mapping the file
   * @param offset the start of the allocatable memory in it
   * @param view the program's view of the allocatable memory
   */
  public AllocatableMemory(SharedMapping mapping, long offset, MemorySegment view) {
    this.mapping = mapping;
    this.offset = offset;
    this.view = view;
    if (view.byteSize() > 0) {
      free.put(0L, view.byteSize());
    }
  }

  /**
   * Allocates zeroed memory.
   *
   * @param size the number of bytes, at least 1
   * @return its offset in the allocatable memory; NONE if there is no room for it
   * @throws PosixException ENOMEM if there is no memory for it
   */
  public long allocate(long size) {
    if (size > view.byteSize()) {
      return NONE;
    }
    long rounded = RmaLayout.roundedUp(size);
    long place = take(rounded);
    if (place == NONE) {
      return NONE;
    }
    int error = mapping.populate(offset + place, rounded);
    if (error != 0) { // EFAULT if the memory limit of a control group is reached
      free(place, size);
      throw new PosixException("madvise", size + " bytes to expose", Errno.ENOMEM);
    }
    return place;
  }

  private synchronized long take(long size) {
    for (Map.Entry<Long, Long> run : free.entrySet()) {
      long place = run.getKey();
      long length = run.getValue();
      if (length >= size) {
        free.remove(place);
        if (length > size) {
          free.put(place + size, length - size);
        }
        return place;
      }
    }
    return NONE;
  }

  /**
   * Frees memory, and returns its pages to the system.
   *
   * @param place its offset, as returned by {@link #allocate}
   * @param size its size, as passed to {@link #allocate}
   */
  public void free(long place, long size) {
    long rounded = RmaLayout.roundedUp(size);
    // first, so that the next allocation finds it zeroed
    if (!mapping.discard(offset + place, rounded)) {
      segment(place, rounded).fill((byte) 0);
    }
    putBack(place, rounded);
  }

  private synchronized void putBack(long place, long size) {
    long begin = place;
    long length = size;
    Map.Entry<Long, Long> before = free.lowerEntry(begin);
    if (before != null && before.getKey() + before.getValue() == begin) {
      begin = before.getKey();
      length += before.getValue();
    }
    Long after = free.remove(place + size);
    free.put(begin, after == null ? length : length + after);
  }

  /**
   * {@return the program's view of a part}
   *
   * @param place its offset
   * @param size the number of bytes
   */
  public MemorySegment segment(long place, long size) {
    return view.asSlice(place, size);
  }

  /** {@return the total size of the allocatable memory, in bytes} */
  public long size() {
    return view.byteSize();
  }
}
