// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.AllocationContract;

final class SmAllocationContractTest extends AllocationContract {
  SmAllocationContractTest() {
    super(new SmUnderTest());
  }
}
