// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.rdma.simulation.SimulatedProviderTraffic;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.verbs.VerbsLibrary;

/** The provider on a simulated fabric. */
class SendRecvSimulationTest extends SimulatedProviderTraffic {

  @Override
  protected ConnectionProvider provider(VerbsLibrary library) {
    return new SendRecvProvider(library);
  }
}
