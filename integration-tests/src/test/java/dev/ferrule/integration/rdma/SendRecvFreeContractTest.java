// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.FreeContract;

@RdmaTest
final class SendRecvFreeContractTest extends FreeContract {
  SendRecvFreeContractTest() {
    super(new SendRecvUnderTest());
  }
}
