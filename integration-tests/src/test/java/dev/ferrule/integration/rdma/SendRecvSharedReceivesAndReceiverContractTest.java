// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.ProviderUnderTest;

/**
 * All connections of a listener share one pool of receive buffers and one completion queue. This
 * tests the combination; each alone has tests of its own.
 */
class SendRecvSharedReceivesAndReceiverContractTest extends RdmaMessagingContracts {

  @Override
  ProviderUnderTest underTest() {
    return RdmaUnderTest.sendRecv("srq", "on", "singleReceiver", "on", "receives", "0");
  }
}
