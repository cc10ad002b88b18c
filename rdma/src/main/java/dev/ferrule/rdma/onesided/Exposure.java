// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.onesided;

import dev.ferrule.ExposedMemory;
import dev.ferrule.RmaHandle;
import dev.ferrule.support.RmaKey;
import dev.ferrule.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Memory of this process that the peer may access. */
public final class Exposure implements ExposedMemory {

  private final Exposures exposures;
  private final RmaKey key;
  private final MemorySegment memory;
  private final @Nullable MemoryRegion region; // null if the memory is empty
  private boolean exposed = true; // guarded by this

  Exposure(Exposures exposures, RmaKey key, MemorySegment memory, @Nullable MemoryRegion region) {
    this.exposures = exposures;
    this.key = key;
    this.memory = memory;
    this.region = region;
  }

  /** Returns the content of the handle. */
  RmaKey key() {
    return key;
  }

  @Override
  public MemorySegment segment() {
    return memory;
  }

  @Override
  public RmaHandle handle() {
    return key.encode();
  }

  @Override
  public void close() {
    exposures.takeBack(this);
  }

  /** Ends the exposure; returns false if it has already ended. */
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
