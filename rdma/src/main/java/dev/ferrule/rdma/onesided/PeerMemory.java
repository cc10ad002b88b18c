// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.onesided;

import dev.ferrule.rdma.queue.OneSidedOperations;
import dev.ferrule.support.AbstractRemoteMemory;
import dev.ferrule.support.RmaKey;

/** Memory that the peer has exposed, with its properties at the time when it was attached. */
public final class PeerMemory extends AbstractRemoteMemory implements OneSidedOperations.Target {

  private final AccessTable table;
  private final int id;
  private final long generation;
  private final int remoteKey;
  private final int first;

  PeerMemory(RmaKey key, int first, AccessTable table) {
    super(key, first);
    this.first = first;
    this.table = table;
    this.id = key.id();
    this.generation = key.generation();
    this.remoteKey = key.key();
  }

  /**
   * Returns whether the memory was looked up in a table.
   *
   * @param candidate the table of a connection
   * @return whether it was
   */
  public boolean belongsTo(AccessTable candidate) {
    return table == candidate;
  }

  /**
   * Returns the address of the first byte in work requests.
   *
   * @return the number to which work requests add an offset
   */
  public int first() {
    return first;
  }

  @Override
  public int remoteKey() {
    return remoteKey;
  }

  @Override
  public int region() {
    return id;
  }

  @Override
  public boolean acquire() {
    return table.acquire(id, generation);
  }
}
