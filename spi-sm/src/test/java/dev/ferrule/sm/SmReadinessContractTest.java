// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.ReadinessContract;

final class SmReadinessContractTest extends ReadinessContract {
  SmReadinessContractTest() {
    super(new SmUnderTest());
  }
}
