// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.AtomicsContract;

/** Atomic operations over the queue pair of sendrecv. */
@RdmaTest
class SendRecvAtomicsContractTest extends AtomicsContract {

  SendRecvAtomicsContractTest() {
    super(RdmaUnderTest.sendRecv());
  }
}
