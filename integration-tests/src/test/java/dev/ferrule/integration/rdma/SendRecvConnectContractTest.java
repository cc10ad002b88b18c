// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.ConnectContract;

@RdmaTest
final class SendRecvConnectContractTest extends ConnectContract {
  SendRecvConnectContractTest() {
    super(new SendRecvUnderTest());
  }
}
