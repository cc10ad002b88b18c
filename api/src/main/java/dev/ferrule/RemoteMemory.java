// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Memory that the peer has exposed, attached by {@link Rma#attach}: where reads come from and
 * writes go to. It has nothing to be closed.
 *
 * <p><b>Threads:</b> any thread may call.
 */
public interface RemoteMemory {

  /**
   * Returns how long the memory is.
   *
   * @return the length in bytes
   */
  long length();

  /**
   * Tells whether this side may do something with the memory.
   *
   * @param right what it wants to do
   * @return whether it may
   */
  boolean allows(RmaRight right);

  /**
   * Returns the peer's memory itself, if this process has it mapped: over shared memory, that of
   * {@link Rma#allocate}.
   *
   * <p>Accesses are those of ordinary shared memory: they need no {@link Rma} operation, and are
   * not ordered with messages but by the program's own fences. The segment is read-only unless the
   * peer lets this side write. It is accessible until this side closes the connection; once the
   * peer has taken the memory back, its content is undefined.
   *
   * @return the memory, bounded; empty if it is not mapped here
   */
  default Optional<MemorySegment> view() {
    return Optional.empty();
  }
}
