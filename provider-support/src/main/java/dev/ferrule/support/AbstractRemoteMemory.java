// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.RemoteMemory;
import dev.ferrule.RmaRight;
import java.util.Set;

/** Memory exposed by the peer, as described by its handle when it was attached. */
public abstract class AbstractRemoteMemory implements RemoteMemory {

  private final long length;
  private final long address;
  private final Set<RmaRight> rights;

  /**
   * Creates remote memory.
   *
   * @param key the content of the handle, already validated
   * @param address an address of the first byte, with the same alignment to words of 8 bytes as in
   *     the peer's process
   */
  protected AbstractRemoteMemory(RmaKey key, long address) {
    this.address = address;
    this.length = key.length();
    this.rights = key.rights();
  }

  @Override
  public final long length() {
    return length;
  }

  /** Returns whether an offset is that of an aligned word of 8 bytes. */
  final boolean isWord(long offset) {
    return (address + offset) % Long.BYTES == 0;
  }

  @Override
  public final boolean allows(RmaRight right) {
    return rights.contains(right);
  }

  @Override
  public String toString() {
    return "remote memory of " + length() + " bytes";
  }
}
