// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.access;

import dev.ferrule.spi.AbstractRemoteMemory;
import dev.ferrule.spi.RmaKey;
import dev.ferrule.verbs.queue.AccessQueue;

/** Memory that the peer has exposed, as it was when it was attached. */
public final class PeerMemory extends AbstractRemoteMemory implements AccessQueue.Target {

  private final AccessTable table;
  private final int id;
  private final long generation;
  private final int remoteKey;
  private final int first;

  PeerMemory(RmaKey key, int first, AccessTable table) {
    super(key);
    this.first = first;
    this.table = table;
    this.id = key.id();
    this.generation = key.generation();
    this.remoteKey = key.key();
  }

  /**
   * Tells whose it is.
   *
   * @param candidate a connection's table
   * @return whether it was found in this
   */
  public boolean belongsTo(AccessTable candidate) {
    return table == candidate;
  }

  /**
   * Returns by which number the peer's device knows the first byte.
   *
   * @return what work requests have to add to an offset
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
