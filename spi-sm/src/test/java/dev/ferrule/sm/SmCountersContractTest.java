// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.CountersContract;

final class SmCountersContractTest extends CountersContract {
  SmCountersContractTest() {
    super(new SmUnderTest());
  }
}
