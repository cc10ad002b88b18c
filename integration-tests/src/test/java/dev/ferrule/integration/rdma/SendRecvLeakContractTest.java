// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.LeakContract;

@RdmaTest
final class SendRecvLeakContractTest extends LeakContract {
  SendRecvLeakContractTest() {
    super(new SendRecvUnderTest());
  }
}
