// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StreamPausesTest {

  private long now;
  private int pauses;

  private final StreamPauses subject =
      new StreamPauses(16 << 20) {
        @Override
        long now() {
          now += 1_000;
          return now;
        }
      };

  /** Receives messages until there is none; returns whether a pause followed. */
  private boolean receive(int messages) {
    long before = now;
    subject.polled(messages, Integer.MAX_VALUE);
    subject.idle();
    boolean paused = now > before;
    if (paused) {
      assertThat(now - before)
          .as("the pause and the reads of the clock")
          .isBetween(15_000L, 18_000L);
      pauses++;
    }
    return paused;
  }

  @Test
  void aPollItselfNeverPauses() {
    subject.polled(1 << 20, Integer.MAX_VALUE);
    assertThat(now).isZero();
  }

  @Test
  void aStreamPausesWheneverTheReceiverHasCaughtUp() {
    assertThat(receive(1_000)).isTrue();
    for (int i = 0; i < 1_000; i++) {
      assertThat(receive(60)).isTrue();
    }
  }

  @Test
  void messagesThatArriveOneAtATimeHardlyEverPause() {
    int messages = 10_000_000;
    for (int i = 0; i < messages; i++) {
      receive(1);
    }
    assertThat(pauses).isBetween(15, 30);
  }

  @Test
  void aPauseThatBringsFewMessagesIsTheLastForAWhile() {
    assertThat(receive(100)).isTrue();
    assertThat(receive(3)).isFalse();
    assertThat(receive(50)).isFalse();
  }

  @Test
  void aStreamThatBeginsAgainPausesSoon() {
    assertThat(receive(100)).isTrue();
    assertThat(receive(100)).as("a stream").isTrue();
    assertThat(receive(0)).as("its end").isFalse();
    assertThat(receive(130)).as("another").isTrue();
  }

  @Test
  void aPauseIsShorterThanASenderNeedsToFillASmallRing() {
    StreamPauses small =
        new StreamPauses(64 << 10) {
          @Override
          long now() {
            now += 100;
            return now;
          }
        };
    small.polled(100, Integer.MAX_VALUE);
    small.idle();
    assertThat(now).isBetween(3_000L, 4_000L);
  }

  @Test
  void aPollThatHasReachedItsLimitIsNotFollowedByAPause() {
    subject.polled(1_000, 1_000);
    subject.idle();
    assertThat(now).isZero();
  }

  @Test
  void aPollThatFollowsNoMessageCausesNoPause() {
    for (int i = 0; i < 100; i++) {
      assertThat(receive(0)).isFalse();
    }
  }
}
