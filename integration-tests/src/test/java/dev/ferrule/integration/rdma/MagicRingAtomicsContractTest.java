// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.AtomicsContract;

/** Atomic operations over the queue pair of magicring. */
@RdmaTest
class MagicRingAtomicsContractTest extends AtomicsContract {

  MagicRingAtomicsContractTest() {
    super(RdmaUnderTest.magicRing());
  }
}
