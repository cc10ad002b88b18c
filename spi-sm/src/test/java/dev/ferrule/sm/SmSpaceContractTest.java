// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.SpaceContract;

final class SmSpaceContractTest extends SpaceContract {
  SmSpaceContractTest() {
    super(new SmUnderTest());
  }
}
