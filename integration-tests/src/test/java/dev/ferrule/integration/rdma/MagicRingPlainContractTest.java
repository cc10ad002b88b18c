// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.BoundaryContract;
import dev.ferrule.contract.ProviderUnderTest;
import org.junit.jupiter.api.Nested;

/** The rings are mapped once, and messages do not cross their ends. */
class MagicRingPlainContractTest extends RdmaMessagingContracts {

  @Override
  ProviderUnderTest underTest() {
    return RdmaUnderTest.magicRing("mapping", "plain", "ring", "520KiB");
  }

  @Nested
  class Boundary extends BoundaryContract {
    Boundary() {
      super(underTest());
    }
  }
}
