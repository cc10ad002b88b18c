// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.CountersContract;

@RdmaTest
final class SendRecvCountersContractTest extends CountersContract {
  SendRecvCountersContractTest() {
    super(new SendRecvUnderTest());
  }
}
