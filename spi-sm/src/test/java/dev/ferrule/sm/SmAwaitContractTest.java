// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.AwaitContract;

final class SmAwaitContractTest extends AwaitContract {
  SmAwaitContractTest() {
    super(new SmUnderTest());
  }
}
