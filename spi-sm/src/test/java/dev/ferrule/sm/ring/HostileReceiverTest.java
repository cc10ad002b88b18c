// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Every value that the receiver writes to a ring causes an error that names it; no thread hangs, no
 * line is freed twice, and nothing is accessed out of bounds.
 */
class HostileReceiverTest {

  private static final RingLayout LAYOUT = new RingLayout(6, 256, 10_000);

  private final Rings rings = new Rings(LAYOUT, true);

  private void release(int entry, int line, int lap) {
    rings.ring.set(
        ValueLayout.JAVA_INT, RingLayout.RELEASES + 4L * entry, ReleaseEntry.of(line, lap));
  }

  private void assertSenderSees(String part) {
    assertThatThrownBy(() -> rings.send(new byte[10]))
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining(part);
  }

  @Test
  void aConsumedCountBeyondThePublishedOneIsDetected() {
    fill();
    rings.ring.set(ValueLayout.JAVA_LONG, RingLayout.CONSUMED, LAYOUT.capacity() + 8L);
    assertSenderSees("consumed count 72 is");
  }

  @Test
  void aConsumedCountThatGoesBackwardsIsDetected() {
    fill();
    rings.receive();
    assertThat(rings.send(new byte[0])).isTrue();
    rings.ring.set(ValueLayout.JAVA_LONG, RingLayout.CONSUMED, 0L);
    assertSenderSees("consumed count 0 is invalid: it was 8");
  }

  @Test
  void aHeldRecordOutsideTheRingIsDetected() {
    fill();
    rings.ring.set(ValueLayout.JAVA_LONG, RingLayout.HELD, HeldRecord.of(64, 8));
    assertSenderSees("held record 0x4000000008");
  }

  private void fill() {
    for (int i = 0; i < LAYOUT.capacity() / RingLayout.HEADER - 1; i++) {
      assertThat(rings.send(new byte[0])).isTrue();
    }
  }

  @Test
  void linesThatWereNeverSentCannotBeFreed() {
    assertThat(rings.producer.reserve(9_000)).isZero();
    release(0, 0, 1);
    assertThatThrownBy(() -> rings.producer.reserve(9_000))
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining("payload line 0");
  }

  @Test
  void linesOutsideTheBufferCannotBeFreed() {
    rings.producer.reserve(9_000);
    release(0, LAYOUT.lines(), 1);
    assertThatThrownBy(() -> rings.producer.reserve(9_000))
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining("payload line 256");
  }

  @Test
  void linesThatAreFreedTwiceAreFreedOnce() {
    int line = rings.producer.reserve(9_000);
    rings.stage(line, new byte[9_000], 9_000);
    rings.producer.publish();
    release(0, line, 1);
    release(1, line, 1);
    assertThatThrownBy(() -> rings.producer.reserve(9_000))
        .isInstanceOf(CorruptRingException.class)
        .hasMessageContaining("payload line 0");
  }

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aSenderWhoseRingIsScribbledOnByAnotherThreadEnds() throws Exception {
    Rings victim = new Rings(LAYOUT, true);
    Thread scribbler =
        new Thread(() -> {
          Random random = new Random(1);
          while (!Thread.currentThread().isInterrupted()) {
            victim.ring.set(
                ValueLayout.JAVA_LONG,
                random.nextBoolean() ? RingLayout.CONSUMED : RingLayout.HELD,
                8L * random.nextInt(100));
          }
        });
    scribbler.start();
    try {
      for (int i = 0; i < 10_000; i++) {
        assertThatCode(() -> sendOrNotice(victim)).doesNotThrowAnyException();
      }
    } finally {
      scribbler.interrupt();
      scribbler.join();
    }
  }

  /** A connection would end after the first error; here each call may fail. */
  private static void sendOrNotice(Rings victim) {
    try {
      victim.send(new byte[8]);
    } catch (CorruptRingException e) {
      return;
    }
  }
}
