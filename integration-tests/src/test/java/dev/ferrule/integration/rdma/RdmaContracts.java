// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

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
import dev.ferrule.contract.LeakContract;
import dev.ferrule.contract.NewSenderContract;
import dev.ferrule.contract.ReadinessContract;
import dev.ferrule.contract.RegisteredMemoryContract;
import dev.ferrule.contract.SpaceContract;
import dev.ferrule.contract.WaitContract;
import org.junit.jupiter.api.Nested;

/** The whole contract of the API, for a provider in some mode. */
abstract class RdmaContracts extends RdmaMessagingContracts {

  @Nested
  class Allocation extends AllocationContract {
    Allocation() {
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
  class Space extends SpaceContract {
    Space() {
      super(underTest());
    }
  }

  @Nested
  class Wait extends WaitContract {
    Wait() {
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

  @Nested
  class Claim extends ClaimContract {
    Claim() {
      super(underTest());
    }
  }

  @Nested
  class Close extends CloseContract {
    Close() {
      super(underTest());
    }
  }

  @Nested
  class Connect extends ConnectContract {
    Connect() {
      super(underTest());
    }
  }

  @Nested
  class Counters extends CountersContract {
    Counters() {
      super(underTest());
    }
  }

  @Nested
  class FlightRecorder extends FlightRecorderContract {
    FlightRecorder() {
      super(underTest());
    }
  }

  @Nested
  class Leak extends LeakContract {
    Leak() {
      super(underTest());
    }
  }

  @Nested
  class EndOfStream extends EndOfStreamContract {
    EndOfStream() {
      super(underTest());
    }
  }

  @Nested
  class NewSender extends NewSenderContract {
    NewSender() {
      super(underTest());
    }
  }

  @Nested
  class Readiness extends ReadinessContract {
    Readiness() {
      super(underTest());
    }
  }

  @Nested
  class RegisteredMemory extends RegisteredMemoryContract {
    RegisteredMemory() {
      super(underTest());
    }
  }
}
