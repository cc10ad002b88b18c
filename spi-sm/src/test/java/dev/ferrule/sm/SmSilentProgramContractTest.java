// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.SilentProgramContract;

final class SmSilentProgramContractTest extends SilentProgramContract {
  SmSilentProgramContractTest() {
    super(new SmUnderTest());
  }
}
