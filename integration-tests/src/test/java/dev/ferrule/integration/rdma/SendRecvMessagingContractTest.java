// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.MessagingContract;

@RdmaTest
final class SendRecvMessagingContractTest extends MessagingContract {
  SendRecvMessagingContractTest() {
    super(new SendRecvUnderTest());
  }
}
