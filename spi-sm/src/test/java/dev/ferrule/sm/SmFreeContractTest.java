// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.FreeContract;

final class SmFreeContractTest extends FreeContract {
  SmFreeContractTest() {
    super(new SmUnderTest());
  }
}
