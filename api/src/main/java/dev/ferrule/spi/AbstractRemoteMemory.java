// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.RemoteMemory;
import dev.ferrule.RmaRight;
import java.util.Set;

/** Memory that the peer has exposed, as its handle described it when it was attached. */
public abstract class AbstractRemoteMemory implements RemoteMemory {

  private final long length;
  private final Set<RmaRight> rights;

  /**
   * For providers.
   *
   * @param key what the handle says, which was checked
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
