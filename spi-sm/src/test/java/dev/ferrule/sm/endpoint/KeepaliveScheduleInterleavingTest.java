// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.support.Interleavings;
import dev.ferrule.support.Interleavings.Steps;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that the first keepalive of a connection is sent in time if it is added during a scan. */
@Tag("interleaving")
class KeepaliveScheduleInterleavingTest {

  private static final long INTERVAL = 10;

  /** An endpoint whose connections all have one interval, at the time 0. */
  private static final class Endpoint {
    final KeepaliveSchedule schedule = new KeepaliveSchedule();
    volatile int connections;
    volatile boolean woken;

    /** Scans the connections if a scan is due, as the endpoint's thread does in each turn. */
    void turn() {
      if (schedule.begin(0)) {
        schedule.end(connections == 0 ? EndpointLoop.NEVER : INTERVAL);
      }
    }

    Steps adding() {
      return new Steps() {
        @Override
        public void run() {
          connections = 1;
          if (schedule.add(INTERVAL, 0)) {
            woken = true;
          }
        }
      };
    }

    Steps turns(int count) {
      return new Steps() {
        @Override
        public void run() {
          for (int i = 0; i < count; i++) {
            turn();
          }
        }
      };
    }

    /** Fails if the thread would now wait for longer than the connection's interval. */
    void checkNext() {
      if (woken) {
        turn();
      }
      Interleavings.check(schedule.next() <= INTERVAL, "the next scan is too late");
    }
  }

  @Test
  void aConnectionThatIsAddedDuringAScanIsFoundOrRequestsAnotherScan() {
    Interleavings.explore(() -> {
      Endpoint endpoint = new Endpoint();
      endpoint.schedule.end(0); // so a scan is due, which finds the new connection or none
      Interleavings.runAll(endpoint.turns(2), endpoint.adding());
      endpoint.checkNext();
    });
  }

  @Test
  void aConnectionWithAShorterIntervalThanTheOthersIsServedInTime() {
    Interleavings.explore(() -> {
      Endpoint endpoint = new Endpoint();
      endpoint.schedule.end(5 * INTERVAL); // of a connection with a longer interval
      Interleavings.runAll(endpoint.turns(1), endpoint.adding());
      endpoint.checkNext();
    });
  }
}
