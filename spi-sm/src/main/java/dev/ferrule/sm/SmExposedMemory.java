// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.ExposedMemory;
import dev.ferrule.RmaHandle;
import dev.ferrule.sm.rma.ExposedRegion;
import java.lang.foreign.MemorySegment;

/** Memory that the peer may access; see {@link SmRma}. */
final class SmExposedMemory implements ExposedMemory {

  private final SmRma rma;
  private final ExposedRegion region;
  private final RmaHandle handle;

  SmExposedMemory(SmRma rma, ExposedRegion region) {
    this.rma = rma;
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
    rma.takeBack(region);
  }
}
