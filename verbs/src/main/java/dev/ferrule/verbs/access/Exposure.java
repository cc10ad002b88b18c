// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.access;

import dev.ferrule.spi.RmaKey;
import dev.ferrule.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Memory of this process that the peer may access. */
public final class Exposure {

  private final RmaKey key;
  private final MemorySegment memory;
  private final @Nullable MemoryRegion region; // none if there is not a byte
  private boolean exposed = true; // under this monitor

  Exposure(RmaKey key, MemorySegment memory, @Nullable MemoryRegion region) {
    this.key = key;
    this.memory = memory;
    this.region = region;
  }

  /**
   * Returns what its handle says.
   *
   * @return the key
   */
  public RmaKey key() {
    return key;
  }

  /**
   * Returns the memory.
   *
   * @return the segment
   */
  public MemorySegment memory() {
    return memory;
  }

  /** Ends the exposure; returns whether it had not ended before. */
  synchronized boolean end() {
    boolean had = exposed;
    exposed = false;
    return had;
  }

  /** The device accesses it no more. */
  void deregister() {
    if (region != null) {
      region.close();
    }
  }
}
