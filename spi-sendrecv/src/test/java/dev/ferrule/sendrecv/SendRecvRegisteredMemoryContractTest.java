// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.contract.RegisteredMemoryContract;

@RdmaTest
final class SendRecvRegisteredMemoryContractTest extends RegisteredMemoryContract {
  SendRecvRegisteredMemoryContractTest() {
    super(new SendRecvUnderTest());
  }
}
