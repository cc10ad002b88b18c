// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.RmaContract;

/** By fragments through a mapped buffer, as where the kernel permits no other method. */
final class SmFragmentsRmaContractTest extends RmaContract {
  SmFragmentsRmaContractTest() {
    super(new SmUnderTest("rma", "mmap", "rmaBuffer", "256KiB"));
  }
}
