// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import java.lang.foreign.MemorySegment;

/** An event that has been taken and must be acknowledged. */
final class CmEventState extends FabricObject {

  final CmIdState countedFor;

  CmEventState(MemorySegment structure, CmIdState countedFor) {
    super(structure);
    this.countedFor = countedFor;
  }
}
