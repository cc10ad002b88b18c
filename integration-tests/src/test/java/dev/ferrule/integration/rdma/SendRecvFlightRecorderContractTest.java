// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.FlightRecorderContract;

@RdmaTest
final class SendRecvFlightRecorderContractTest extends FlightRecorderContract {
  SendRecvFlightRecorderContractTest() {
    super(new SendRecvUnderTest());
  }
}
