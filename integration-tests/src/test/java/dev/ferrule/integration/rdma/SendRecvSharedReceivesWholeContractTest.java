// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.ProviderUnderTest;

/** What {@link SendRecvSharedReceivesContractTest} leaves out as well; run when asked for. */
class SendRecvSharedReceivesWholeContractTest extends RdmaContracts {

  @Override
  ProviderUnderTest underTest() {
    return RdmaUnderTest.sendRecv("srq", "on", "receives", "0");
  }
}
