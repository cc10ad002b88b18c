// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Reuse of payload lines by messages so large that no two fit in a processor's cache. */
class LargeRunTest {

  private static final int LENGTH = 512 * 1024;
  private static final RingLayout LAYOUT = new RingLayout(14, 4 * LENGTH / RingLayout.LINE, LENGTH);
  private static final long LOOK_NANOS = 400;

  private final Rings rings = new Rings(LAYOUT, true);
  private int looks; // reads of the clock
  private boolean receives; // while the sender reads the clock
  private final RingProducer producer =
      new RingProducer(LAYOUT, rings.ring, rings.buffer, rings.ring, true, this::look);

  private long look() {
    if (receives) {
      receive();
    }
    return LOOK_NANOS * looks++;
  }

  private int send(int length) {
    int line = producer.reserve(length);
    producer.stageLines(line, length);
    producer.publish();
    return line;
  }

  private void receive() {
    assertThat(rings.consumer.next()).isTrue();
    int line = rings.consumer.messageLine();
    rings.consumer.advance();
    rings.consumer.acknowledge();
    rings.consumer.release(line);
  }

  @Test
  void shouldReuseTheLinesThatAReceiverFreesAtOnce() {
    receives = true;
    int first = send(LENGTH);
    for (int i = 0; i < 10; i++) {
      assertThat(send(LENGTH)).isEqualTo(first);
    }
  }

  @Test
  void shouldNotWaitForLinesThatAReceiverKeeps() {
    int first = send(LENGTH);
    assertThat(send(LENGTH)).isNotEqualTo(first);
    assertThat(looks).isBetween(2, 10);
  }

  @Test
  void shouldWaitLessOftenAfterUnsuccessfulWaits() {
    int waits = 0;
    send(LENGTH);
    for (int i = 0; i < 1_000; i++) {
      int before = looks;
      send(LENGTH);
      waits += looks > before ? 1 : 0;
      receive(); // late
    }
    assertThat(waits).isBetween(2, 30);
  }

  @Test
  void shouldNotWaitForLinesThatThisSideHasReserved() {
    producer.reserve(LENGTH);
    producer.reserve(LENGTH);
    assertThat(looks).isZero();
  }

  @Test
  void shouldNotWaitForShorterMessages() {
    send(LENGTH / 2 + 1);
    send(LENGTH / 2 + 1);
    assertThat(looks).isZero();
  }
}
