// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.ProviderUnderTest;

/**
 * All connections of a listener share one group of receive buffers and one completion queue. This
 * is where the two meet; the rest is tested with each alone.
 */
class SendRecvSharedReceivesAndReceiverContractTest extends RdmaMessagingContracts {

  @Override
  ProviderUnderTest underTest() {
    return RdmaUnderTest.sendRecv("srq", "on", "singleReceiver", "on", "receives", "0");
  }
}
