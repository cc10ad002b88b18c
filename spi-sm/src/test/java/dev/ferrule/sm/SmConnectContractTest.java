// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.ConnectContract;

final class SmConnectContractTest extends ConnectContract {
  SmConnectContractTest() {
    super(new SmUnderTest());
  }
}
