// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.CloseContract;

@RdmaTest
final class SendRecvCloseContractTest extends CloseContract {
  SendRecvCloseContractTest() {
    super(new SendRecvUnderTest());
  }
}
