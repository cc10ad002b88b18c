// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.ProviderUnderTest;

/** Each connection has two magic rings and its own completion queue. */
class MagicRingContractTest extends RdmaContracts {

  @Override
  ProviderUnderTest underTest() {
    return RdmaUnderTest.magicRing();
  }
}
