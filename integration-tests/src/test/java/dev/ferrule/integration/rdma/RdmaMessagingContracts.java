// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.FreeContract;
import dev.ferrule.contract.MessagingContract;
import dev.ferrule.contract.ProviderUnderTest;
import org.junit.jupiter.api.Nested;

/** The parts of the API's contract about messages, for a provider in some mode. */
@RdmaTest
abstract class RdmaMessagingContracts {

  /** Returns the provider under test, new for each test. */
  abstract ProviderUnderTest underTest();

  @Nested
  class Free extends FreeContract {
    Free() {
      super(underTest());
    }
  }

  @Nested
  class Messaging extends MessagingContract {
    Messaging() {
      super(underTest());
    }
  }
}
