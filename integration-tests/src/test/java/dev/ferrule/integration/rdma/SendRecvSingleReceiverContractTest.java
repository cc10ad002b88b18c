// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.EndOfStreamContract;
import dev.ferrule.contract.NewSenderContract;
import dev.ferrule.contract.ProviderUnderTest;
import dev.ferrule.contract.ReadinessContract;
import dev.ferrule.contract.WaitContract;
import org.junit.jupiter.api.Nested;

/** All connections of a listener share one completion queue. */
class SendRecvSingleReceiverContractTest extends RdmaMessagingContracts {

  @Override
  ProviderUnderTest underTest() {
    return RdmaUnderTest.sendRecv("singleReceiver", "on");
  }

  @Nested
  class NewSender extends NewSenderContract {
    NewSender() {
      super(underTest());
    }
  }

  @Nested
  class Readiness extends ReadinessContract {
    Readiness() {
      super(underTest());
    }
  }

  @Nested
  class Wait extends WaitContract {
    Wait() {
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
