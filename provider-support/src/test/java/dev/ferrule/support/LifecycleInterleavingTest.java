// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionState;
import dev.ferrule.FerruleException;
import dev.ferrule.PeerLostException;
import dev.ferrule.support.Interleavings.Steps;
import dev.ferrule.support.Lifecycle.Closing;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that a connection ends once and for one reason, whichever threads end it. */
@Tag("interleaving")
class LifecycleInterleavingTest {

  private static final FerruleException FAILURE =
      new PeerLostException(UnusedConnection.URI, "lost", null);

  private static final class Ending {
    final Lifecycle life = new Lifecycle(new UnusedConnection());
    volatile Closing first = Closing.AGAIN;
    volatile Closing second = Closing.AGAIN;
    volatile boolean endedByPeer;
    volatile boolean recorded;
    int calls; // of the callback; Lincheck interleaves accesses to it

    Steps closingFirst() {
      return new Steps() {
        @Override
        public void run() {
          first = life.close();
        }
      };
    }

    Steps closingSecond() {
      return new Steps() {
        @Override
        public void run() {
          second = life.close();
        }
      };
    }

    Steps closedByPeer() {
      return new Steps() {
        @Override
        public void run() {
          endedByPeer = life.closedByPeer();
        }
      };
    }

    Steps registering() {
      return new Steps() {
        @Override
        public void run() {
          register();
        }
      };
    }

    void register() {
      life.onEnd(
          new Consumer<>() {
            @Override
            public void accept(Connection ended) {
              calls++;
            }
          });
    }
  }

  @Test
  void oneOfTwoClosesEndsTheConnection() {
    Interleavings.explore(() -> {
      Ending ending = new Ending();
      Interleavings.runAll(ending.closingFirst(), ending.closingSecond());
      Interleavings.check(
          (ending.first == Closing.OF_OPEN) == (ending.second == Closing.AGAIN)
              && (ending.first == Closing.AGAIN) == (ending.second == Closing.OF_OPEN),
          ending.first + " and " + ending.second);
    });
  }

  @Test
  void theConnectionEndsForOneReason() {
    Interleavings.explore(() -> {
      Ending ending = new Ending();
      ending.register();
      Interleavings.runAll(ending.closingFirst(), ending.closedByPeer());
      Interleavings.check(
          ending.first == (ending.endedByPeer ? Closing.OF_ENDED : Closing.OF_OPEN),
          "two reasons, or none");
      Interleavings.check(
          ending.life.state()
              == (ending.endedByPeer ? ConnectionState.CLOSED_BY_PEER : ConnectionState.CLOSED),
          "not the reason that was reported");
      Interleavings.check(ending.calls == 1, "callbacks: " + ending.calls);
    });
  }

  @Test
  void aCallbackThatIsRegisteredDuringACloseRunsOnce() {
    Interleavings.explore(() -> {
      Ending ending = new Ending();
      Interleavings.runAll(ending.registering(), ending.closingFirst());
      Interleavings.check(ending.calls == 1, "callbacks: " + ending.calls);
    });
  }

  @Test
  void whatAFailureRecordsIsVisibleWithIt() {
    Interleavings.explore(() -> {
      Ending ending = new Ending();
      Interleavings.runAll(
          new Steps() {
            @Override
            public void run() {
              boolean ignored =
                  ending.life.fail(
                      FAILURE,
                      "lost",
                      new Runnable() {
                        @Override
                        public void run() {
                          ending.recorded = true;
                        }
                      });
            }
          },
          new Steps() {
            @Override
            public void run() {
              Interleavings.check(
                  !ending.life.hasEnded() || ending.recorded, "ended before it was recorded");
            }
          });
    });
  }
}
