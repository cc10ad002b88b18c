// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.ExposedMemory;
import dev.ferrule.RmaHandle;
import dev.ferrule.rdma.onesided.Exposure;
import dev.ferrule.rdma.onesided.Exposures;
import java.lang.foreign.MemorySegment;

/** Exposed memory, which the peer may access; see {@link RdmaRma}. */
final class RdmaExposedMemory implements ExposedMemory {

  private final Exposures exposures;
  private final Exposure exposure;
  private final RmaHandle handle;

  RdmaExposedMemory(Exposures exposures, Exposure exposure) {
    this.exposures = exposures;
    this.exposure = exposure;
    this.handle = exposure.key().encode();
  }

  @Override
  public MemorySegment segment() {
    return exposure.memory();
  }

  @Override
  public RmaHandle handle() {
    return handle;
  }

  @Override
  public void close() {
    exposures.takeBack(exposure);
  }
}
