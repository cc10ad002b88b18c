// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.BatchContract;

@RdmaTest
final class SendRecvBatchContractTest extends BatchContract {
  SendRecvBatchContractTest() {
    super(new SendRecvUnderTest());
  }
}
