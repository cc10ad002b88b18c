// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.ProviderUnderTest;
import org.junit.jupiter.api.Tag;

/** All connections of a listener share one group of receive buffers. */
@Tag("rdma-modes") // takes minutes: see CONTRIBUTING.md
class SendRecvSharedReceivesContractTest extends SendRecvContracts {

  @Override
  ProviderUnderTest underTest() {
    return new SendRecvUnderTest("srq", "on", "receives", "0");
  }
}
