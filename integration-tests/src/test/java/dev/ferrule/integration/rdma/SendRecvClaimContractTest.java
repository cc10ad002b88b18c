// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.ClaimContract;

@RdmaTest
final class SendRecvClaimContractTest extends ClaimContract {
  SendRecvClaimContractTest() {
    super(new SendRecvUnderTest());
  }
}
