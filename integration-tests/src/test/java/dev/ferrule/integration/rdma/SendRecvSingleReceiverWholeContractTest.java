// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.ProviderUnderTest;
import org.junit.jupiter.api.Tag;

/** Includes the contracts that {@link SendRecvSingleReceiverContractTest} omits. */
@Tag("whole")
class SendRecvSingleReceiverWholeContractTest extends RdmaContracts {

  @Override
  ProviderUnderTest underTest() {
    return RdmaUnderTest.sendRecv("singleReceiver", "on");
  }
}
