// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.RmaContract;

/** By the best way that there is: cross-memory attach, where the kernel permits it. */
final class SmRmaContractTest extends RmaContract {
  SmRmaContractTest() {
    super(new SmUnderTest());
  }
}
