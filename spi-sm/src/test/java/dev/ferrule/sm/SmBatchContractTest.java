// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.BatchContract;

final class SmBatchContractTest extends BatchContract {
  SmBatchContractTest() {
    super(new SmUnderTest());
  }
}
