// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.RemoteMemory;
import dev.ferrule.RmaRight;
import java.util.Set;

/** Memory exposed by the peer, as described by its handle when it was attached. */
public abstract class AbstractRemoteMemory implements RemoteMemory {

  private final long length;
  private final Set<RmaRight> rights;

  /**
   * Creates remote memory.
   *
   * @param key the content of the handle, already validated
   */
  protected AbstractRemoteMemory(RmaKey key) {
    this.length = key.length();
    this.rights = key.rights();
  }

  @Override
  public final long length() {
    return length;
  }

  @Override
  public final boolean allows(RmaRight right) {
    return rights.contains(right);
  }
}
