// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.ExposedMemory;
import dev.ferrule.RmaHandle;
import dev.ferrule.sm.rma.ExposedRegion;
import java.lang.foreign.MemorySegment;

/** Memory that the peer may access; see {@link SmExposures}. */
final class SmExposedMemory implements ExposedMemory {

  private final SmExposures exposures;
  private final ExposedRegion region;
  private final RmaHandle handle;

  SmExposedMemory(SmExposures exposures, ExposedRegion region) {
    this.exposures = exposures;
    this.region = region;
    this.handle = region.key().encode();
  }

  @Override
  public MemorySegment segment() {
    return region.memory();
  }

  @Override
  public RmaHandle handle() {
    return handle;
  }

  @Override
  public void close() {
    exposures.end(region, exposures.deadline());
  }
}
