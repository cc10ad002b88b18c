// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.RmaContract;

/** Remote memory access over the queue pair of sendrecv. */
@RdmaTest
class SendRecvRmaContractTest extends RmaContract {

  SendRecvRmaContractTest() {
    super(RdmaUnderTest.sendRecv());
  }
}
