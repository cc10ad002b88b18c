// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.StandardOptions;
import dev.ferrule.rdma.simulation.SimulatedProviderTraffic;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.verbs.VerbsLibrary;

/** The provider on a simulated fabric. */
class SendRecvSimulationTest extends SimulatedProviderTraffic {

  /** Only a few buffers, so that messages often wait for credits. */
  @Override
  protected ConnectionOptions options() {
    return ConnectionOptions.builder()
        .set(StandardOptions.MAX_MESSAGE, 2_048L)
        .set("receives", "4")
        .build();
  }

  @Override
  protected ConnectionProvider provider(VerbsLibrary library) {
    return new SendRecvProvider(library);
  }
}
