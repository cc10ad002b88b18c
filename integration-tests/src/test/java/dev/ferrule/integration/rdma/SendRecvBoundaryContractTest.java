// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.BoundaryContract;

@RdmaTest
final class SendRecvBoundaryContractTest extends BoundaryContract {
  SendRecvBoundaryContractTest() {
    super(new SendRecvUnderTest());
  }
}
