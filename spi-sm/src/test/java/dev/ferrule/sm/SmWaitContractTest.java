// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.WaitContract;

final class SmWaitContractTest extends WaitContract {
  SmWaitContractTest() {
    super(new SmUnderTest());
  }
}
