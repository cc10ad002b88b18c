// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.EndOfStreamContract;

final class SmEndOfStreamContractTest extends EndOfStreamContract {
  SmEndOfStreamContractTest() {
    super(new SmUnderTest());
  }
}
