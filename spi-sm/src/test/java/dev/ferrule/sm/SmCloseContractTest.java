// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.CloseContract;

final class SmCloseContractTest extends CloseContract {
  SmCloseContractTest() {
    super(new SmUnderTest());
  }
}
