// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.RmaContract;

/** Remote memory access over the queue pair of magicring. */
@RdmaTest
class MagicRingRmaContractTest extends RmaContract {

  MagicRingRmaContractTest() {
    super(RdmaUnderTest.magicRing());
  }
}
