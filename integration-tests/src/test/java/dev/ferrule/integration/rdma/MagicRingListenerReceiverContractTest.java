// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.ListenerReceiverDifferences;
import dev.ferrule.contract.ProviderUnderTest;
import org.junit.jupiter.api.extension.ExtendWith;

/** All connections of a listener share one completion queue, and one receiver. */
@ExtendWith(ListenerReceiverDifferences.class)
class MagicRingListenerReceiverContractTest extends RdmaMessagingContracts {

  @Override
  ProviderUnderTest underTest() {
    return RdmaUnderTest.magicRingViaListenerReceiver("singleReceiver", "on");
  }
}
