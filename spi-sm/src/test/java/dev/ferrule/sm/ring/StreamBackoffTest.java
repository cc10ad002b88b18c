// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A receiver rests in a stream that becomes faster by it, and in no other. */
class StreamBackoffTest {

  private static final int RECORD = 16;
  private static final int MEBIBYTE = 1 << 20;

  /** A receiver with a simulated clock. */
  private static final class Receiver extends StreamBackoff {

    private long clock;
    private long position;
    private long messages;
    private long rested; // ns

    @Override
    long now() {
      clock++; // otherwise a rest would not end
      return clock;
    }

    void receive(double nanos) {
      position += RECORD;
      messages++;
      clock += (long) nanos;
      if (position >= checkpoint()) {
        measure(position, messages);
      }
    }

    void lookInVain() {
      drained(position, messages);
    }

    long restNow() {
      long before = clock;
      rest();
      long result = clock - before;
      rested += result;
      return result;
    }
  }

  private final Receiver receiver = new Receiver();

  @Test
  void aStreamThatIsFasterWithRestsIsReceivedWithThem() {
    stream(64 * MEBIBYTE, 20, 4);
    assertThat(receiver.rested).isGreaterThan(receiver.clock / 10);
  }

  @Test
  void aStreamThatIsAsSlowWithRestsIsReceivedWithoutThem() {
    stream(64 * MEBIBYTE, 20, 20);
    assertThat(receiver.rested).isLessThan(receiver.clock / 50);
  }

  @Test
  void messagesThatArriveOneAtATimeHardlyEverWait() {
    int waited = 0;
    for (int i = 0; i < 1_000_000; i++) {
      receiver.receive(300);
      receiver.lookInVain();
      waited += receiver.restNow() > 0 ? 1 : 0;
    }
    assertThat(waited).isLessThanOrEqualTo(20);
  }

  @Test
  void messagesThatAreRarerThanInAStreamNeverWait() {
    for (int i = 0; i < 1_000_000; i++) {
      receiver.receive(1_000);
      receiver.lookInVain();
      assertThat(receiver.restNow()).isZero();
    }
  }

  @Test
  void aSlowStreamThatIsFasterWithRestsIsReceivedWithThem() {
    stream(64 * MEBIBYTE, 300, 20); // as of several sending threads
    assertThat(receiver.rested).isGreaterThan(receiver.clock / 10);
  }

  @Test
  void oneThreadThatSendsAndReceivesHardlyEverRests() {
    for (int i = 0; i < 1_000_000; i++) {
      receiver.receive(12);
      receiver.lookInVain();
      receiver.restNow();
    }
    assertThat(receiver.rested).isLessThan(receiver.clock / 50);
  }

  @Test
  void afterTheEndOfAStreamOneMessageWaitsOnceAtMost() {
    stream(8 * MEBIBYTE, 20, 4);
    long waited = 0;
    for (int i = 0; i < 10_000; i++) {
      receiver.receive(300);
      receiver.lookInVain();
      waited += receiver.restNow() > 0 ? 1 : 0;
    }
    assertThat(waited).isLessThanOrEqualTo(1);
  }

  @Test
  void restsEndSoonWhenTheSenderGetsSlow() {
    stream(8 * MEBIBYTE, 20, 4);
    long before = receiver.rested;
    stream(8 * MEBIBYTE, 40, 40);
    assertThat(receiver.rested - before).isLessThan(1_000_000);
  }

  @Test
  void aTrialIsRepeatedWhenTheStreamHasChanged() {
    stream(64 * MEBIBYTE, 20, 20);
    long before = receiver.rested;
    stream(64 * MEBIBYTE, 20, 4);
    assertThat(receiver.rested).isGreaterThan(2 * before);
  }

  /**
   * Receives a stream, with the time of a message while the receiver is level with the sender, and
   * its time while it catches up after a rest.
   */
  private void stream(long bytes, double level, double behind) {
    long backlog = 0;
    for (long end = receiver.position + bytes; receiver.position < end; ) {
      long rest = receiver.restNow();
      backlog += (long) (rest / (2 * behind));
      for (int i = 0; i < 64; i++) {
        receiver.receive(backlog > 0 ? behind : level);
        // meanwhile the sender continues, at half the receiver's rate
        backlog = Math.max(0, backlog - (i & 1));
      }
      if (backlog == 0) {
        receiver.lookInVain();
      }
    }
  }
}
