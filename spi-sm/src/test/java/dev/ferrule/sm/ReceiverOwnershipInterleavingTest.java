// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.support.Interleavings;
import dev.ferrule.support.Interleavings.Steps;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that one receiver at a time processes a connection's messages. */
@Tag("interleaving")
class ReceiverOwnershipInterleavingTest {

  private static final class Receivers {
    final ReceiverOwnership ownership = new ReceiverOwnership();
    volatile boolean busy;
    volatile boolean own;
    volatile boolean common;

    /** The common receiver processes a message, if it still owns the messages. */
    Steps processing() {
      return new Steps() {
        @Override
        public void run() {
          if (ownership.begin()) {
            busy = true;
            Interleavings.check(!own, "the own receiver has claimed the messages");
            busy = false;
            ownership.end();
          }
        }
      };
    }

    Steps endingCommon() {
      return new Steps() {
        @Override
        public void run() {
          ownership.endCommon();
        }
      };
    }

    Steps claimingOwn() {
      return new Steps() {
        @Override
        public void run() {
          own = ownership.claimOwn();
          Interleavings.check(!own || !busy, "the common receiver processes a message");
        }
      };
    }

    Steps claimingCommon() {
      return new Steps() {
        @Override
        public void run() {
          common = ownership.claimCommon();
        }
      };
    }
  }

  @Test
  void theOwnReceiverTakesOverOnlyBetweenTwoMessages() {
    Interleavings.explore(() -> {
      Receivers receivers = new Receivers();
      Interleavings.check(receivers.ownership.claimCommon(), "not claimed");
      Interleavings.runAll(
          receivers.processing(), receivers.claimingOwn(), receivers.endingCommon());
      Interleavings.check(receivers.ownership.claimOwn(), "the common receiver has ended");
      Interleavings.check(!receivers.ownership.begin(), "it still processes messages");
    });
  }

  @Test
  void oneOfTwoReceiversClaimsTheMessages() {
    Interleavings.explore(() -> {
      Receivers receivers = new Receivers();
      Interleavings.runAll(receivers.claimingOwn(), receivers.claimingCommon());
      Interleavings.check(receivers.own != receivers.common, "both, or none");
    });
  }
}
