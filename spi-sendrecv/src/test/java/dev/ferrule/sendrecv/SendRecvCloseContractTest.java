// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.contract.CloseContract;

@RdmaTest
final class SendRecvCloseContractTest extends CloseContract {
  SendRecvCloseContractTest() {
    super(new SendRecvUnderTest());
  }
}
