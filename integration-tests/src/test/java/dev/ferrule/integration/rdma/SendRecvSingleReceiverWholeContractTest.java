// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.ProviderUnderTest;

/** Includes the parts that {@link SendRecvSingleReceiverContractTest} omits; run on request. */
class SendRecvSingleReceiverWholeContractTest extends RdmaContracts {

  @Override
  ProviderUnderTest underTest() {
    return RdmaUnderTest.sendRecv("singleReceiver", "on");
  }
}
