// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.onesided;

import dev.ferrule.support.RmaKey;
import dev.ferrule.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Memory of this process that the peer may access. */
public final class Exposure {

  private final RmaKey key;
  private final MemorySegment memory;
  private final @Nullable MemoryRegion region; // null if the memory is empty
  private boolean exposed = true; // under this monitor

  Exposure(RmaKey key, MemorySegment memory, @Nullable MemoryRegion region) {
    this.key = key;
    this.memory = memory;
    this.region = region;
  }

  /** {@return the content of the handle} */
  public RmaKey key() {
    return key;
  }

  /** {@return the memory} */
  public MemorySegment memory() {
    return memory;
  }

  /** Ends the exposure; returns false if it had ended before. */
  synchronized boolean end() {
    boolean had = exposed;
    exposed = false;
    return had;
  }

  /** Ends the registration, so that the device no longer accesses the memory. */
  void deregister() {
    if (region != null) {
      region.close();
    }
  }
}
