// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import java.lang.foreign.MemorySegment;

/** An object of libibverbs or librdmacm with its C structure, whose address is its handle. */
abstract class FabricObject {

  final MemorySegment structure;

  /** The objects that refer to this one: they have to be destroyed first (EBUSY). */
  int users;

  /** The events that were taken and not acknowledged: destroying the object waits for them. */
  int unacknowledged;

  FabricObject(MemorySegment structure) {
    this.structure = structure;
  }

  final long address() {
    return structure.address();
  }

  /** Returns whether the program has created it, and so has to destroy it. */
  boolean isOwnedByProgram() {
    return true;
  }
}
