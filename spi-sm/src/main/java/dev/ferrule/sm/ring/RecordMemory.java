// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import dev.ferrule.posix.PosixException;
import dev.ferrule.posix.SharedMapping;

/**
 * A mapping of a ring's records that can be revoked from a thread that has stopped in the middle of
 * a store: the records are mapped a second time for the other threads, and private memory replaces
 * the first mapping.
 */
public interface RecordMemory {

  /**
   * Returns the address of the records.
   *
   * @return the address, valid as long as this object is reachable
   */
  long address();

  /**
   * Maps the records again.
   *
   * @return another mapping of the same records
   * @throws PosixException if that is not possible
   */
  RecordMemory duplicate();

  /**
   * Replaces this mapping by private memory, at the same address. Stores that are not in the
   * records when this returns never reach them.
   *
   * @return whether it is replaced
   */
  boolean retire();

  /**
   * Maps records.
   *
   * @param ring the ring's memory, from the start of the ring
   * @param layout the ring's layout
   * @return a separate mapping of the records
   * @throws PosixException if that is not possible
   */
  static RecordMemory of(SharedMapping ring, RingLayout layout) {
    record Part(SharedMapping whole, long offset, long size, SharedMapping part)
        implements RecordMemory {

      Part(SharedMapping whole, long offset, long size) {
        this(whole, offset, size, whole.duplicate(offset, size));
      }

      @Override
      public long address() {
        return part.address();
      }

      @Override
      public RecordMemory duplicate() {
        return new Part(whole, offset, size);
      }

      @Override
      public boolean retire() {
        return part.retire();
      }
    }
    return new Part(ring, layout.recordsOffset(), layout.capacity());
  }
}
