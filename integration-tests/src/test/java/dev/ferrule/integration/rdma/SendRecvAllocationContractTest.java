// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.AllocationContract;

@RdmaTest
final class SendRecvAllocationContractTest extends AllocationContract {
  SendRecvAllocationContractTest() {
    super(new SendRecvUnderTest());
  }
}
