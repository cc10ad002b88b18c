// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.StandardOptions;
import dev.ferrule.rdma.simulation.SimulatedProviderTraffic;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.verbs.VerbsLibrary;

/** The provider on a simulated fabric. */
class MagicRingSimulationTest extends SimulatedProviderTraffic {

  /** A small ring, so that messages often wait for space. */
  @Override
  protected ConnectionOptions options() {
    return ConnectionOptions.builder()
        .set(StandardOptions.MAX_MESSAGE, 2_048L)
        .set("ring", "16KiB")
        .build();
  }

  @Override
  protected ConnectionProvider provider(VerbsLibrary library) {
    return new MagicRingProvider(library);
  }
}
