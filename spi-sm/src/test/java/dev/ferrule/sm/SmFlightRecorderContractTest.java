// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.FlightRecorderContract;

final class SmFlightRecorderContractTest extends FlightRecorderContract {
  SmFlightRecorderContractTest() {
    super(new SmUnderTest());
  }
}
