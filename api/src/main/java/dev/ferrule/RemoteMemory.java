// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * The peer's side of {@link ExposedMemory}, attached by {@link Rma#attach}: the source of reads,
 * and the target of writes and atomic operations. It need not be closed; {@link Rma} has an
 * example.
 *
 * <p><b>Threads:</b> any thread may call these methods.
 */
public interface RemoteMemory {

  /** {@return the length of the memory in bytes} */
  long length();

  /**
   * {@return whether this side may access the memory in a given way}
   *
   * @param right the kind of access
   */
  boolean allows(RmaRight right);

  /**
   * {@return the peer's memory itself, bounded, if it is mapped into this process: over shared
   * memory, that of {@link Rma#allocate}; empty if it is not mapped}
   *
   * <p>Accesses are those of ordinary shared memory: they need no {@link Rma} operation, and only
   * the program's own fences order them with messages. The segment is read-only unless the peer
   * permits writes. Its content is undefined once the peer has revoked the access, and after the
   * close, see {@link Connection}.
   */
  default Optional<MemorySegment> view() {
    return Optional.empty();
  }
}
