// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.ProviderUnderTest;

/** What {@link SendRecvSingleReceiverContractTest} leaves out as well; run when asked for. */
class SendRecvSingleReceiverWholeContractTest extends RdmaContracts {

  @Override
  ProviderUnderTest underTest() {
    return RdmaUnderTest.sendRecv("singleReceiver", "on");
  }
}
