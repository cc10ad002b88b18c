// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.WaitContract;

@RdmaTest
final class SendRecvWaitContractTest extends WaitContract {
  SendRecvWaitContractTest() {
    super(new SendRecvUnderTest());
  }
}
