// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.BoundaryContract;

final class SmBoundaryContractTest extends BoundaryContract {
  SmBoundaryContractTest() {
    super(new SmUnderTest());
  }
}
