// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.sendrecv.wire.Immediate;
import org.junit.jupiter.api.Test;

/** The credits of both sides of a connection, without a device. */
class WindowTest {

  private static final int CAPACITY = 8;

  private final Window sender = new Window(false, true, CAPACITY, CAPACITY);
  private final Window receiver = new Window(false, true, CAPACITY, CAPACITY);

  /** A control message from the receiver to the sender. */
  private void grant() {
    assertThat(sender.take(receiver.immediate(Immediate.GRANT))).isTrue();
    assertThat(sender.controlReceived()).isTrue();
    sender.controlReposted();
  }

  @Test
  void aSideMaySendOnlyMessagesForWhichThePeerHasReceives() {
    assertThat(sender.grantedByPeer()).isEqualTo(CAPACITY);
    for (int i = 0; i < CAPACITY; i++) {
      assertThat(receiver.messageReceived()).isTrue();
    }
    assertThat(receiver.isPeerStarving()).isTrue();
    assertThat(receiver.messageReceived()).isFalse();
  }

  @Test
  void aGrantIsDueWhenHalfOfTheCreditsAreReturnedOrThePeerStarves() {
    for (int i = 0; i < CAPACITY / 2; i++) {
      receiver.messageReceived();
    }
    receiver.reposted(CAPACITY / 2 - 1);
    assertThat(receiver.isGrantDue()).isFalse();
    receiver.reposted(1);
    assertThat(receiver.isGrantDue()).isTrue();
    grant();
    assertThat(receiver.isGrantDue()).isFalse();
    assertThat(sender.grantedByPeer()).isEqualTo(CAPACITY + CAPACITY / 2);

    for (int i = 0; i < CAPACITY; i++) {
      receiver.messageReceived();
    }
    assertThat(receiver.isGrantDue()).isFalse();
    receiver.reposted(1);
    assertThat(receiver.isGrantDue()).as("the peer is starving").isTrue();
  }

  @Test
  void noCreditsAreLostWhenTheCountsWrapAround() {
    long sent = 0;
    for (int round = 0; round < 200_000 / CAPACITY; round++) {
      while (sent < sender.grantedByPeer()) {
        assertThat(receiver.take(sender.immediate(Immediate.MESSAGE))).isTrue();
        assertThat(receiver.messageReceived()).isTrue();
        sent++;
      }
      receiver.reposted(CAPACITY);
      assertThat(receiver.isGrantDue()).isTrue();
      assertThat(receiver.mayGrant()).isTrue();
      grant();
    }
    assertThat(sent).isEqualTo(200_000L);
    assertThat(sender.grantedByPeer() - sent).isEqualTo(CAPACITY);
  }

  @Test
  void noMoreThanTwoUnreportedGrantsAreInFlightUnlessAnotherReportsOne() {
    for (int i = 0; i < 2; i++) {
      assertThat(receiver.mayGrant()).isTrue();
      grant();
    }
    assertThat(receiver.mayGrant()).isFalse();

    assertThat(receiver.take(sender.immediate(Immediate.MESSAGE))).isTrue();

    assertThat(receiver.mayGrant()).isTrue();
  }

  /**
   * The sender claims its credits and sends no message, so only its control messages report the
   * grants.
   */
  @Test
  void aSenderThatSendsNothingIsGrantedEveryCreditOneByOne() {
    for (int i = 0; i < CAPACITY; i++) {
      assertThat(receiver.messageReceived()).isTrue();
    }
    for (int i = 1; i <= CAPACITY; i++) {
      receiver.reposted(1);
      assertThat(receiver.isGrantOwed()).isTrue();
      assertThat(receiver.mayGrant()).isTrue();
      grant();
      assertThat(sender.grantedByPeer()).isEqualTo(CAPACITY + i);
      if (sender.isGrantDue()) {
        assertThat(sender.mayGrant()).isTrue();
        assertThat(receiver.take(sender.immediate(Immediate.GRANT))).isTrue();
        assertThat(receiver.controlReceived()).isTrue();
        receiver.controlReposted();
      }
    }
    assertThat(sender.isGrantDue()).as("nothing is sent for ever").isFalse();
    assertThat(receiver.isGrantDue()).isFalse();
  }

  @Test
  void excessControlMessagesOfThePeerAreDetected() {
    for (int i = 0; i < Window.CONTROL_RECEIVES; i++) {
      assertThat(sender.controlReceived()).isTrue();
    }
    assertThat(sender.controlReceived()).isFalse();
  }

  @Test
  void aCountThatGoesBackwardsIsInvalid() {
    assertThat(sender.take(Immediate.of(Immediate.MESSAGE, CAPACITY - 1, 0))).isFalse();
    assertThat(sender.take(Immediate.of(Immediate.MESSAGE, CAPACITY, 255))).isFalse();
  }

  @Test
  void aGrantIsOwedForASingleCredit() {
    assertThat(receiver.isGrantOwed()).isFalse();
    receiver.messageReceived();
    receiver.reposted(1);
    assertThat(receiver.isGrantDue()).isFalse();
    assertThat(receiver.isGrantOwed()).isTrue();
    grant();
    assertThat(receiver.isGrantOwed()).isFalse();
  }

  @Test
  void withoutCreditsThePeerStarvesWhenAllReceivesForMessagesAreUsed() {
    Window plain = new Window(true, true, CAPACITY, CAPACITY);
    for (int i = 0; i < CAPACITY; i++) {
      assertThat(plain.isPeerStarving()).isFalse();
      plain.messageReceived();
    }
    assertThat(plain.isPeerStarving()).isTrue();
    plain.reposted(1);
    assertThat(plain.isPeerStarving()).isFalse();
    assertThat(plain.isGrantOwed()).isFalse();
  }
}
