// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import java.lang.foreign.MemorySegment;

/** An object of libibverbs or librdmacm with its C structure, whose address is its handle. */
abstract class FabricObject {

  final MemorySegment structure;

  /** The number of objects that refer to this one. They must be destroyed first (EBUSY). */
  int users;

  /**
   * The number of events that are taken and not acknowledged. Destroying the object waits for them.
   */
  int unacknowledged;

  FabricObject(MemorySegment structure) {
    this.structure = structure;
  }

  final long address() {
    return structure.address();
  }

  /** Returns whether the program has created the object, and therefore must destroy it. */
  boolean isOwnedByProgram() {
    return true;
  }
}
