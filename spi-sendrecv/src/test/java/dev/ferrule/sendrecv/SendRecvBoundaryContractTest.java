// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.contract.BoundaryContract;

@RdmaTest
final class SendRecvBoundaryContractTest extends BoundaryContract {
  SendRecvBoundaryContractTest() {
    super(new SendRecvUnderTest());
  }
}
