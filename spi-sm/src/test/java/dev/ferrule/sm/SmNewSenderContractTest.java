// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.NewSenderContract;

final class SmNewSenderContractTest extends NewSenderContract {
  SmNewSenderContractTest() {
    super(new SmUnderTest());
  }
}
