// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.ClaimContract;

final class SmClaimContractTest extends ClaimContract {
  SmClaimContractTest() {
    super(new SmUnderTest());
  }
}
