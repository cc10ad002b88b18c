// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import java.lang.foreign.MemorySegment;

/** A shared receive queue. */
final class SharedReceivesState extends FabricObject {

  final DomainState domain;
  final PostedReceives receives;

  SharedReceivesState(MemorySegment structure, DomainState domain, PostedReceives receives) {
    super(structure);
    this.domain = domain;
    this.receives = receives;
    domain.users++;
  }
}
