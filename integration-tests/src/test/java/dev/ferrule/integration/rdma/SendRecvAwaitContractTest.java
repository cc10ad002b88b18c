// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.AwaitContract;

@RdmaTest
final class SendRecvAwaitContractTest extends AwaitContract {
  SendRecvAwaitContractTest() {
    super(new SendRecvUnderTest());
  }
}
