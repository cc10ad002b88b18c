// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Connection;
import dev.ferrule.ExposedMemory;
import dev.ferrule.RmaRight;
import java.lang.foreign.Arena;

/** Memory that a server exposes for a measurement. */
final class Exposure {

  private static final long PAGE = 4096;

  private Exposure() {}

  static ExposedMemory of(Connection connection, long size) {
    // the collector frees it when nobody exposes it any more
    return connection
        .rma()
        .expose(Arena.ofAuto().allocate(size, PAGE), RmaRight.READ, RmaRight.WRITE);
  }
}
