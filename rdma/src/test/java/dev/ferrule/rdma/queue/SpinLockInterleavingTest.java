// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import dev.ferrule.support.Interleavings;
import dev.ferrule.support.Interleavings.Steps;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that one thread at a time holds the lock. */
@Tag("interleaving")
class SpinLockInterleavingTest {

  private static final class Guarded {
    final SpinLock lock = new SpinLock();
    int count; // guarded by the lock
    volatile int refused;

    Steps counting() {
      return new Steps() {
        @Override
        public void run() {
          lock.lock();
          try {
            count++;
          } finally {
            lock.unlock();
          }
        }
      };
    }

    Steps tryingToCount() {
      return new Steps() {
        @Override
        public void run() {
          if (lock.tryLock()) {
            try {
              count++;
            } finally {
              lock.unlock();
            }
          } else {
            refused++;
          }
        }
      };
    }
  }

  @Test
  void oneThreadAtATimeHoldsTheLock() {
    Interleavings.explore(() -> {
      Guarded guarded = new Guarded();
      Interleavings.runAll(guarded.counting(), guarded.counting(), guarded.tryingToCount());
      Interleavings.check(guarded.count + guarded.refused == 3, "two threads held the lock");
    });
  }
}
