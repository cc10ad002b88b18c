// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.ClaimContract;
import dev.ferrule.contract.EndOfStreamContract;
import dev.ferrule.contract.ProviderUnderTest;
import org.junit.jupiter.api.Nested;

/** All connections of a listener share one pool of receive buffers. */
class SendRecvSharedReceivesContractTest extends RdmaMessagingContracts {

  @Override
  ProviderUnderTest underTest() {
    return RdmaUnderTest.sendRecv("srq", "on", "receives", "0");
  }

  @Nested
  class Claim extends ClaimContract {
    Claim() {
      super(underTest());
    }
  }

  @Nested
  class EndOfStream extends EndOfStreamContract {
    EndOfStream() {
      super(underTest());
    }
  }
}
