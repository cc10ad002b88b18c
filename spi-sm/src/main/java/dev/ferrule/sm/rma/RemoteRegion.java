// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import dev.ferrule.RmaRight;
import dev.ferrule.support.AbstractRemoteMemory;
import dev.ferrule.support.RmaKey;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
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
    super(key);
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
   * Copies the next bytes of an operation from or to it; only if it is mapped and exposed.
   *
   * @param transfer the operation
   * @param length the number of bytes
   */
  public void copy(Transfer transfer, long length) {
    if (mapped == null) {
      throw new IllegalStateException("the region is not mapped");
    }
    // checked again, as two threads that use an Rma at once must not write elsewhere
    long offset = Objects.checkFromIndexSize(transfer.remoteOffset(), length, length());
    transfer.copy(mapped.address() + offset, length);
    transfer.advance(length);
  }
}
