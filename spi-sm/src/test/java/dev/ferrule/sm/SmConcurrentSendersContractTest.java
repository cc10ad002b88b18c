// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.AllocationContract;
import dev.ferrule.contract.AwaitContract;
import dev.ferrule.contract.BatchContract;
import dev.ferrule.contract.BoundaryContract;
import dev.ferrule.contract.ClaimContract;
import dev.ferrule.contract.CloseContract;
import dev.ferrule.contract.CountersContract;
import dev.ferrule.contract.FreeContract;
import dev.ferrule.contract.MessagingContract;
import dev.ferrule.contract.ReadinessContract;
import dev.ferrule.contract.RegisteredMemoryContract;
import dev.ferrule.contract.SilentProgramContract;
import dev.ferrule.contract.WaitContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A sender for several threads fulfils the contract of one for a single thread. The contracts whose
 * code the option does not change are marked {@link Whole}, with the reason.
 *
 * <p>Its inline messages have room of their own, which claims do not take. Where a test fills the
 * room by claims and expects a copy to wait, the ring is so small that the copy is not inline;
 * {@link SmConcurrentSenderTest} tests the wait of an inline message.
 */
@ExtendWith(ConcurrentSendersDifferences.class)
class SmConcurrentSendersContractTest {

  private static SmUnderTest underTest() {
    return SmUnderTest.withFewerMessages("concurrentSenders", "on");
  }

  private static SmUnderTest withHardlyAnythingInline() {
    return SmUnderTest.withFewerMessages("concurrentSenders", "on", "ring", "4KiB");
  }

  @Nested
  class Messaging extends MessagingContract {
    Messaging() {
      super(underTest());
    }
  }

  @Nested
  class Boundary extends BoundaryContract {
    Boundary() {
      super(underTest());
    }
  }

  @Nested
  class Claim extends ClaimContract {
    Claim() {
      super(withHardlyAnythingInline());
    }
  }

  @Nested
  class Readiness extends ReadinessContract {
    Readiness() {
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
  class Await extends AwaitContract {
    Await() {
      super(underTest());
    }
  }

  @Nested
  class Batch extends BatchContract {
    Batch() {
      super(underTest());
    }
  }

  @Whole(
      "SmConcurrentSenderTest: several threads' waits for room, and their ends, for each strategy;"
          + " SmWaitContractTest: all others, which are the same")
  @Nested
  class Wait extends WaitContract {
    Wait() {
      super(withHardlyAnythingInline());
    }
  }

  @Nested
  class Close extends CloseContract {
    Close() {
      super(underTest());
    }
  }

  @Nested
  class Counters extends CountersContract {
    Counters() {
      super(underTest());
    }
  }

  @Whole("SmFreeContractTest: receivers are the same")
  @Nested
  class Free extends FreeContract {
    Free() {
      super(underTest());
    }
  }

  @Whole("SmRegisteredMemoryContractTest: the registration is the same")
  @Nested
  class RegisteredMemory extends RegisteredMemoryContract {
    RegisteredMemory() {
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
