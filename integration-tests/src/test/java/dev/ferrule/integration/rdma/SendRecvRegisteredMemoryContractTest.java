// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.RegisteredMemoryContract;

@RdmaTest
final class SendRecvRegisteredMemoryContractTest extends RegisteredMemoryContract {
  SendRecvRegisteredMemoryContractTest() {
    super(new SendRecvUnderTest());
  }
}
