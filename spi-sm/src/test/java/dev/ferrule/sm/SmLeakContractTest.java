// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.LeakContract;

final class SmLeakContractTest extends LeakContract {
  SmLeakContractTest() {
    super(new SmUnderTest());
  }
}
