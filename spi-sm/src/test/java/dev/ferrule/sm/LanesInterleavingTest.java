// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.support.Interleavings;
import dev.ferrule.support.Interleavings.Steps;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that a lane has one owner at a time. */
@Tag("interleaving")
class LanesInterleavingTest {

  /** Takes a lane, uses it, and gives it back. */
  private static final class Owner extends Steps {
    private final Lanes lanes;
    private final int[] owners;
    volatile boolean failed;

    Owner(Lanes lanes, int[] owners) {
      this.lanes = lanes;
      this.owners = owners;
    }

    @Override
    public void run() {
      int lane = lanes.take();
      if (lane == Lanes.NONE) {
        failed = true;
        return;
      }
      owners[lane]++;
      Interleavings.check(owners[lane] == 1, "the lane has another owner");
      owners[lane]--;
      lanes.giveBack(lane);
    }
  }

  @Test
  void aLaneHasOneOwnerAtATime() {
    Interleavings.explore(() -> {
      Lanes lanes = new Lanes(2);
      int[] owners = new int[2];
      Interleavings.runAll(
          new Owner(lanes, owners), new Owner(lanes, owners), new Owner(lanes, owners));
      Interleavings.check(lanes.take() == 0 && lanes.take() == 1, "a lane was not given back");
      Interleavings.check(lanes.take() == Lanes.NONE, "more lanes than there are");
    });
  }

  @Test
  void noThreadFindsAllLanesOwnedWhileOneIsFree() {
    Interleavings.explore(() -> {
      Lanes lanes = new Lanes(2);
      int[] owners = new int[2];
      Owner first = new Owner(lanes, owners);
      Owner second = new Owner(lanes, owners);
      Interleavings.runAll(first, second);
      Interleavings.check(!first.failed && !second.failed, "a lane was free");
    });
  }
}
