// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.AtomicsContract;

/** Beside reads and writes by the best available method: cross-memory attach. */
final class SmAtomicsContractTest extends AtomicsContract {
  SmAtomicsContractTest() {
    super(new SmUnderTest());
  }
}
