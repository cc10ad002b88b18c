// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.AllocationContract;
import dev.ferrule.contract.FreeContract;
import dev.ferrule.contract.ListenerReceiverDifferences;
import dev.ferrule.contract.MessagingContract;
import dev.ferrule.contract.SilentProgramContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;

/** A listener's receiver fulfils the contract of a connection's receiver. */
@ExtendWith(ListenerReceiverDifferences.class)
class SmListenerReceiverContractTest {

  private static SmUnderTest underTest() {
    return SmUnderTest.viaListenerReceiver("singleReceiver", "on");
  }

  @Nested
  class Messaging extends MessagingContract {
    Messaging() {
      super(underTest());
    }
  }

  @Nested
  class Free extends FreeContract {
    Free() {
      super(underTest());
    }
  }

  @Nested
  class SilentProgram extends SilentProgramContract {
    SilentProgram() {
      super(underTest());
    }
  }

  @Nested
  class Allocation extends AllocationContract {
    Allocation() {
      super(underTest());
    }
  }
}
