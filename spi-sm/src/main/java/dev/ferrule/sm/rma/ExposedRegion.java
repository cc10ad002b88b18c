// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static dev.ferrule.posix.RawMemory.ALL;
import static dev.ferrule.sm.rma.RmaLayout.LONG;

import dev.ferrule.RmaRight;
import dev.ferrule.support.RmaKey;
import java.lang.foreign.MemorySegment;

/** Memory of this process that the peer may access. */
public final class ExposedRegion {

  private final RmaKey key;
  private final MemorySegment memory;
  private final long cookie;
  private final long place;
  private boolean exposed = true; // guarded by this monitor
  private volatile boolean takenBack;

  ExposedRegion(RmaKey key, MemorySegment memory, long cookie, long place) {
    this.key = key;
    this.memory = memory;
    this.cookie = cookie;
    this.place = place;
  }

  /** {@return the contents of its handle} */
  public RmaKey key() {
    return key;
  }

  /** {@return the memory} */
  public MemorySegment memory() {
    return memory;
  }

  /** {@return whether it is in the allocatable memory} */
  public boolean isAllocated() {
    return place != RegionTable.OTHER_MEMORY;
  }

  /**
   * {@return its offset in the allocatable memory, in bytes; only if it {@linkplain #isAllocated is
   * there}}
   */
  public long place() {
    return place;
  }

  /** Returns KNEM's cookie; 0 if there is none. */
  long cookie() {
    return cookie;
  }

  /**
   * Copies from or to the memory for the peer. A thread that ends the exposure waits for the end of
   * the copy.
   *
   * @param other the source or destination: an address in the peer's buffer
   * @return the status, as in a fragment's header
   */
  synchronized int copy(int operation, long generation, long offset, long other, int length) {
    if (!exposed || generation != key.generation()) {
      return RmaLayout.NO_REGION;
    }
    RmaRight right = operation == RmaLayout.WRITE ? RmaRight.WRITE : RmaRight.READ;
    if (!key.rights().contains(right) || offset < 0 || offset > memory.byteSize() - length) {
      return RmaLayout.DENIED;
    }
    try {
      if (right == RmaRight.WRITE) {
        MemorySegment.copy(ALL, other, memory, offset, length);
      } else {
        MemorySegment.copy(memory, offset, ALL, other, length);
      }
      return RmaLayout.DONE;
    } catch (IllegalStateException | InternalError e) {
      return RmaLayout.FAULT; // the program has freed it, or truncated its own file
    }
  }

  /**
   * Changes a word of the memory for the peer, by an atomic instruction. A thread that ends the
   * exposure waits for the end of the operation.
   *
   * @param payload the address of the operands in the peer's buffer, and of the result
   * @return the status, as in a fragment's header
   */
  synchronized int change(int operation, long generation, long offset, long payload) {
    if (!exposed || generation != key.generation()) {
      return RmaLayout.NO_REGION;
    }
    if (!key.rights().contains(RmaRight.ATOMIC)
        || offset < 0
        || offset > memory.byteSize() - Long.BYTES
        || (memory.address() + offset) % Long.BYTES != 0) {
      return RmaLayout.DENIED;
    }
    long operand = (long) LONG.get(ALL, payload + RmaLayout.ATOMIC_OPERAND);
    long desired = (long) LONG.get(ALL, payload + RmaLayout.ATOMIC_DESIRED);
    try {
      long previous = AtomicWord.change(operation, memory, offset, operand, desired);
      LONG.set(ALL, payload + RmaLayout.ATOMIC_RESULT, previous);
      return RmaLayout.DONE;
    } catch (IllegalStateException | InternalError e) {
      return RmaLayout.FAULT; // the program has freed it, or truncated its own file
    }
  }

  /**
   * Marks the region as taken back: the peer no longer accesses it, or the wait for that timed out.
   */
  public void markTakenBack() {
    takenBack = true;
  }

  /** {@return whether the region was taken back} */
  public boolean isTakenBack() {
    return takenBack;
  }

  /** Ends the exposure; returns false if it had already ended. */
  synchronized boolean end() {
    boolean had = exposed;
    exposed = false;
    return had;
  }
}
