// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import dev.ferrule.contract.CountersContract;

@RdmaTest
final class SendRecvCountersContractTest extends CountersContract {
  SendRecvCountersContractTest() {
    super(new SendRecvUnderTest());
  }
}
