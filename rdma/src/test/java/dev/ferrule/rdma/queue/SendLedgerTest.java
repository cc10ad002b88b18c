// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.support.LineAllocator;
import org.junit.jupiter.api.Test;

/** Tests which requests are signaled, and which ones a completion retires. */
class SendLedgerTest {

  private static final int UNACKED = 16;
  private static final int INTERVAL = UNACKED / 4;

  private final LineAllocator lines = new LineAllocator(UNACKED);
  private final SendLedger ledger = new SendLedger(UNACKED, lines);

  @Test
  void shouldSignalEveryNthMessageAndThoseThatMustBe() {
    for (int i = 1; i < INTERVAL; i++) {
      assertThat(ledger.isSignaled(ledger.addMessage(-1, 0, false))).isFalse();
    }
    assertThat(ledger.isCompletionDue()).isFalse();
    assertThat(ledger.isSignaled(ledger.addMessage(-1, 0, false))).isTrue();
    assertThat(ledger.isSignaled(ledger.addMessage(-1, 0, false))).isFalse();
    assertThat(ledger.isSignaled(ledger.addMessage(-1, 0, true))).isTrue();
    assertThat(ledger.isCompletionDue()).isTrue();
  }

  @Test
  void shouldRetireAllUpToTheCompletionAndReleaseTheirLines() {
    for (int i = 0; i < UNACKED; i++) {
      int line = lines.allocate(1, Integer.MAX_VALUE);
      assertThat(line).isNotEqualTo(LineAllocator.NONE);
      ledger.addMessage(line, 0, false);
    }
    assertThat(lines.allocate(1, Integer.MAX_VALUE)).isEqualTo(LineAllocator.NONE);

    ledger.retire(INTERVAL);

    assertThat(ledger.completedId()).isEqualTo(INTERVAL);
    assertThat(ledger.unacknowledged()).isEqualTo(UNACKED - INTERVAL);
    assertThat(lines.allocate(INTERVAL, Integer.MAX_VALUE)).isNotEqualTo(LineAllocator.NONE);
    assertThat(ledger.isAllRetired()).isFalse();
    ledger.retire(UNACKED);
    assertThat(ledger.isAllRetired()).isTrue();
  }

  @Test
  void shouldCountControlsSeparatelyAndCoverMessagesBeforeThem() {
    ledger.addMessage(-1, 0, false);
    assertThat(ledger.isSignaledFor(1)).isFalse();

    long control = ledger.addControl();

    assertThat(ledger.isSignaledFor(1)).isTrue();
    assertThat(ledger.controlsPosted()).isEqualTo(1);
    assertThat(ledger.sent()).isEqualTo(1);
    ledger.retire(control);
    assertThat(ledger.controlsPosted()).isZero();
    assertThat(ledger.completedId()).isEqualTo(1);
  }

  @Test
  void shouldGiveOutstandingControlsDifferentLines() {
    boolean[] taken = new boolean[ControlMessages.SENDS];
    for (int i = 0; i < ControlMessages.SENDS; i++) {
      assertThat(taken[ledger.nextControlSlot()]).isFalse();
      taken[ledger.nextControlSlot()] = true;
      ledger.addControl();
    }
    ledger.retire(1);
    assertThat(ledger.nextControlSlot()).isZero();
  }

  @Test
  void shouldBeStalledAfterProbesWithoutProgress() {
    ledger.retire(ledger.addMessage(-1, 0, true));
    long second = ledger.addMessage(-1, 0, true);
    ledger.probe();
    assertThat(ledger.isStalled(0, 1)).isFalse();
    ledger.probe();
    ledger.probe();
    assertThat(ledger.isStalled(1, 1)).isTrue();
    assertThat(ledger.isStalled(2, 1)).isFalse();

    ledger.retire(second);

    ledger.probe();
    assertThat(ledger.isStalled(0, 1)).isFalse();
  }

  @Test
  void shouldNotBeStalledAtTheFirstProbe() {
    ledger.addMessage(-1, 0, true);

    ledger.probe();

    assertThat(ledger.isStalled(0, 1)).isFalse();
    ledger.probe();
    assertThat(ledger.isStalled(0, 1)).isTrue();
  }

  @Test
  void shouldAllowForTheTransferTimeOfLongMessages() {
    long quarterSecond = 250_000_000;
    int half = 100 << 20; // both halves take 21 s (83 probes) at 10 MB/s
    ledger.addMessage(-1, half, true);
    long second = ledger.addMessage(-1, half, true);
    for (int i = 0; i <= 4 + 83; i++) {
      ledger.probe();
      assertThat(ledger.isStalled(4, quarterSecond)).isFalse();
    }
    ledger.probe();
    assertThat(ledger.isStalled(4, quarterSecond)).isTrue();

    ledger.retire(second);
    ledger.addMessage(-1, 0, true);

    for (int i = 0; i <= 4; i++) {
      ledger.probe();
      assertThat(ledger.isStalled(4, quarterSecond)).isFalse();
    }
    ledger.probe();
    assertThat(ledger.isStalled(4, quarterSecond)).isTrue();
  }
}
