// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import dev.ferrule.spi.AbstractRemoteMemory;
import dev.ferrule.spi.RmaKey;

/** Memory that the peer has exposed, as it was when it was attached. */
public final class RemoteRegion extends AbstractRemoteMemory {

  private final RemoteTable table;
  private final int id;
  private final long generation;
  private final long address;
  private final long cookie;

  RemoteRegion(RmaKey key, RemoteTable table, long address, long cookie) {
    super(key);
    this.table = table;
    this.id = key.id();
    this.generation = key.generation();
    this.address = address;
    this.cookie = cookie;
  }

  /**
   * Tells whose it is.
   *
   * @param candidate the peer's regions
   * @return whether it is one of these
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

  /** Where it is in the peer's process. */
  long address() {
    return address;
  }

  /** KNEM's cookie; 0 if there is none. */
  long cookie() {
    return cookie;
  }
}
