// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.ProviderUnderTest;

/** Includes the parts that {@link SendRecvSharedReceivesContractTest} omits; run on request. */
class SendRecvSharedReceivesWholeContractTest extends RdmaContracts {

  @Override
  ProviderUnderTest underTest() {
    return RdmaUnderTest.sendRecv("srq", "on", "receives", "0");
  }
}
