// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.StandardOptions;
import dev.ferrule.rdma.simulation.SimulatedProviderTraffic;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.verbs.VerbsLibrary;

/** The provider on a simulated fabric, with a small window and therefore few receives. */
class MagicRingWindowSimulationTest extends SimulatedProviderTraffic {

  @Override
  protected ConnectionOptions options() {
    return ConnectionOptions.builder()
        .set(StandardOptions.MAX_MESSAGE, 2_048L)
        .set("window", "8")
        .set("acknowledge", "each")
        .build();
  }

  @Override
  protected ConnectionProvider provider(VerbsLibrary library) {
    return new MagicRingProvider(library);
  }
}
