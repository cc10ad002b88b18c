// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.AtomicsContract;

/** Beside reads and writes by fragments, in the smallest buffer. */
final class SmFragmentsAtomicsContractTest extends AtomicsContract {
  SmFragmentsAtomicsContractTest() {
    super(new SmUnderTest("rma", "mmap", "rmaBuffer", "4KiB"));
  }
}
