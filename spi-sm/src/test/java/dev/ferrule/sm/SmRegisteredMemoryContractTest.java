// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.RegisteredMemoryContract;

final class SmRegisteredMemoryContractTest extends RegisteredMemoryContract {
  SmRegisteredMemoryContractTest() {
    super(new SmUnderTest());
  }
}
