// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.sm.os.PosixException;
import dev.ferrule.sm.os.SharedMapping;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.TreeMap;

/**
 * The part of this side's file in which its program allocates memory to expose it, and which the
 * peer has mapped. Pages take memory only while they are allocated.
 *
 * <p><b>Threads:</b> any thread may call.
 */
public final class AllocatableMemory {

  /** What {@link #allocate} returns when there is no room. */
  public static final long NONE = -1;

  private final SharedMapping mapping;
  private final long offset;
  private final MemorySegment view;
  private final TreeMap<Long, Long> free = new TreeMap<>(); // lengths by place; under the monitor

  /**
   * Begins with nothing allocated.
   *
   * @param mapping the file
   * @param offset where in it the allocatable memory begins
   * @param view the allocatable memory, as the program sees it
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
   * Allocates memory, which is zeroed.
   *
   * @param size how many bytes, at least 1
   * @return where in the allocatable memory it begins; NONE if there is no room for it
   * @throws PosixException ENOMEM if there is no memory for it
   */
  public long allocate(long size) {
    if (size > view.byteSize()) {
      return NONE;
    }
    long rounded = rounded(size);
    long place = take(rounded);
    if (place == NONE) {
      return NONE;
    }
    int error = mapping.populate(offset + place, rounded);
    if (error != 0) { // EFAULT as well, where the memory of a control group is used up
      free(place, size);
      throw new PosixException("madvise", size + " bytes to expose", LibC.ENOMEM());
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
   * Gives memory back, and its pages to the system.
   *
   * @param place what {@link #allocate} returned
   * @param size what it was given
   */
  public void free(long place, long size) {
    long rounded = rounded(size);
    mapping.discard(offset + place, rounded); // first, or the next one would not find it zeroed
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

  private static long rounded(long size) {
    return size + RmaLayout.PAGE - 1 & -RmaLayout.PAGE;
  }

  /**
   * Returns a part, as the program sees it.
   *
   * @param place where it begins
   * @param size how many bytes
   * @return the memory
   */
  public MemorySegment segment(long place, long size) {
    return view.asSlice(place, size);
  }

  /**
   * Returns how much can be allocated at all.
   *
   * @return the size in bytes
   */
  public long size() {
    return view.byteSize();
  }
}
