// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import dev.ferrule.verbs.libibverbs.ibv_mr;
import java.lang.foreign.MemorySegment;

/**
 * A memory region. An access needs its key, its protection domain and the access right, and must be
 * within its bounds. The local and the remote key differ, so that using the wrong one is detected.
 */
final class RegionState extends FabricObject {

  final DomainState domain;
  private final long memory;
  private final long length;
  private final long start;
  private final int access;
  final int localKey;

  /**
   * Creates a region.
   *
   * @param memory the address in this process
   * @param start the address of the first byte in work requests
   */
  RegionState(
      MemorySegment structure,
      DomainState domain,
      long memory,
      long length,
      long start,
      int access,
      int localKey) {
    super(structure);
    this.domain = domain;
    this.memory = memory;
    this.length = length;
    this.start = start;
    this.access = access;
    this.localKey = localKey;
    ibv_mr.lkey(structure, localKey);
    ibv_mr.rkey(structure, remoteKey());
    domain.users++;
  }

  int remoteKey() {
    return localKey + 1;
  }

  /** Returns the address in this process, or -1 if the access is not allowed. */
  long translate(DomainState of, long address, int bytes, int right) {
    long offset = address - start;
    boolean allowed =
        of == domain && (access & right) == right && offset >= 0 && offset <= length - bytes;
    return allowed ? memory + offset : -1;
  }
}
