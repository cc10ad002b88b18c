// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.RmaContract;

/** By the best available method: cross-memory attach, where the kernel permits it. */
final class SmRmaContractTest extends RmaContract {
  SmRmaContractTest() {
    super(new SmUnderTest());
  }
}
