// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static dev.ferrule.posix.RawMemory.ALL;

import dev.ferrule.RmaRight;
import dev.ferrule.support.AbstractRemoteMemory;
import dev.ferrule.support.RmaKey;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Memory that the peer has exposed, as it was when it was attached. */
public final class RemoteRegion extends AbstractRemoteMemory {

  private final RemoteTable table;
  private final int id;
  private final long generation;
  private final long address;
  private final long cookie;
  private final @Nullable MemorySegment mapped;

  RemoteRegion(
      RmaKey key, RemoteTable table, long address, long cookie, @Nullable MemorySegment mapped) {
    super(key, mapped == null ? address : mapped.address());
    this.table = table;
    this.id = key.id();
    this.generation = key.generation();
    this.address = address;
    this.cookie = cookie;
    this.mapped = mapped;
  }

  /**
   * {@return whether this region belongs to a table}
   *
   * @param candidate the peer's regions
   */
  public boolean belongsTo(RemoteTable candidate) {
    return table == candidate;
  }

  int id() {
    return id;
  }

  long generation() {
    return generation;
  }

  /** Returns its address in the peer's process. */
  long address() {
    return address;
  }

  /** Returns KNEM's cookie; 0 if there is none. */
  long cookie() {
    return cookie;
  }

  /** {@return whether this process has mapped the memory} */
  public boolean isMapped() {
    return mapped != null;
  }

  @Override
  public Optional<MemorySegment> view() {
    return Optional.ofNullable(mapped)
        .map(memory -> allows(RmaRight.WRITE) ? memory : memory.asReadOnly());
  }

  /**
   * Copies from or to the region, which must be mapped, exposed, and long enough.
   *
   * @param write whether to copy to it instead of from it
   * @param offset the offset in it
   * @param local memory of this side
   * @param localOffset the offset in that
   * @param length the number of bytes
   */
  public void copy(boolean write, long offset, MemorySegment local, long localOffset, long length) {
    if (mapped == null) {
      throw new IllegalStateException("the region is not mapped");
    }
    long here = mapped.address() + offset;
    if (write) {
      MemorySegment.copy(local, localOffset, ALL, here, length);
    } else {
      MemorySegment.copy(ALL, here, local, localOffset, length);
    }
  }

  /**
   * Changes an aligned word of the region atomically. The region must be mapped and exposed.
   *
   * @param swap whether to compare and swap instead of adding
   * @param offset the offset in it
   * @param operand the number to add, or the expected value
   * @param desired the value to set
   * @return the previous value
   */
  public long change(boolean swap, long offset, long operand, long desired) {
    if (mapped == null) {
      throw new IllegalStateException("the region is not mapped");
    }
    int operation = swap ? RmaLayout.COMPARE_AND_SWAP : RmaLayout.FETCH_AND_ADD;
    return AtomicWord.change(operation, ALL, mapped.address() + offset, operand, desired);
  }
}
