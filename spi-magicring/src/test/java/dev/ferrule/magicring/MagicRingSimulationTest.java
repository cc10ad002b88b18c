// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring;

import dev.ferrule.rdma.simulation.SimulatedProviderTraffic;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.verbs.VerbsLibrary;

/** The provider on a simulated fabric. */
class MagicRingSimulationTest extends SimulatedProviderTraffic {

  @Override
  protected ConnectionProvider provider(VerbsLibrary library) {
    return new MagicRingProvider(library);
  }
}
