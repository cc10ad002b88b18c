// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.queue;

import dev.ferrule.contract.AllocationContract;
import dev.ferrule.contract.AwaitContract;
import dev.ferrule.contract.BatchContract;
import dev.ferrule.contract.BoundaryContract;
import dev.ferrule.contract.ClaimContract;
import dev.ferrule.contract.CloseContract;
import dev.ferrule.contract.ConnectContract;
import dev.ferrule.contract.CountersContract;
import dev.ferrule.contract.EndOfStreamContract;
import dev.ferrule.contract.FlightRecorderContract;
import dev.ferrule.contract.FreeContract;
import dev.ferrule.contract.LeakContract;
import dev.ferrule.contract.MessagingContract;
import dev.ferrule.contract.RegisteredMemoryContract;
import dev.ferrule.contract.SilentProgramContract;
import dev.ferrule.contract.SpaceContract;
import dev.ferrule.contract.WaitContract;
import org.junit.jupiter.api.Nested;

/**
 * The whole contract for queue, except what a provider may leave out: {@code RmaContract}, {@code
 * AtomicsContract} and {@code ReadinessContract}, which queue does not support.
 */
class QueueContractsTest {

  @Nested
  class Allocation extends AllocationContract {
    Allocation() {
      super(new QueueUnderTest());
    }
  }

  @Nested
  class Await extends AwaitContract {
    Await() {
      super(new QueueUnderTest());
    }
  }

  @Nested
  class Batch extends BatchContract {
    Batch() {
      super(new QueueUnderTest());
    }
  }

  @Nested
  class Boundary extends BoundaryContract {
    Boundary() {
      super(new QueueUnderTest());
    }
  }

  @Nested
  class Claim extends ClaimContract {
    Claim() {
      super(new QueueUnderTest());
    }
  }

  @Nested
  class Close extends CloseContract {
    Close() {
      super(new QueueUnderTest());
    }
  }

  @Nested
  class Connect extends ConnectContract {
    Connect() {
      super(new QueueUnderTest());
    }
  }

  @Nested
  class Counters extends CountersContract {
    Counters() {
      super(new QueueUnderTest());
    }
  }

  @Nested
  class EndOfStream extends EndOfStreamContract {
    EndOfStream() {
      super(new QueueUnderTest());
    }
  }

  @Nested
  class FlightRecorder extends FlightRecorderContract {
    FlightRecorder() {
      super(new QueueUnderTest());
    }
  }

  @Nested
  class Free extends FreeContract {
    Free() {
      super(new QueueUnderTest());
    }
  }

  @Nested
  class Leak extends LeakContract {
    Leak() {
      super(new QueueUnderTest());
    }
  }

  @Nested
  class Messaging extends MessagingContract {
    Messaging() {
      super(new QueueUnderTest());
    }
  }

  @Nested
  class RegisteredMemory extends RegisteredMemoryContract {
    RegisteredMemory() {
      super(new QueueUnderTest());
    }
  }

  @Nested
  class SilentProgram extends SilentProgramContract {
    SilentProgram() {
      super(new QueueUnderTest());
    }
  }

  @Nested
  class Space extends SpaceContract {
    Space() {
      super(new QueueUnderTest());
    }
  }

  @Nested
  class Wait extends WaitContract {
    Wait() {
      super(new QueueUnderTest());
    }
  }
}
