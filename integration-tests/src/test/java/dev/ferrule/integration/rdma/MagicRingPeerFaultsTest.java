// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import org.junit.jupiter.api.Test;

/** Faults of a peer over magicring: both sides send, or only one of them. */
@RdmaTest
class MagicRingPeerFaultsTest extends PeerFaults {

  MagicRingPeerFaultsTest() {
    super("magicring", "?ring=8KiB&window=8&maxMessage=4KiB");
  }

  @Test
  void aKilledPeerEndsEveryWaitForItAndLeavesNothingBehind() {
    aKilledPeerEndsEveryWait("", true);
  }

  @Test
  void aKilledPeerThatOnlyReceivedEndsEveryWaitForIt() {
    aKilledPeerEndsEveryWait("&simplex=on&mapping=plain", false);
  }
}
