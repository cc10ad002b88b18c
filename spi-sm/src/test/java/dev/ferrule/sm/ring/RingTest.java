// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RingTest {

  private static final RingLayout LAYOUT = new RingLayout(6, 256, 256 * RingLayout.LINE);

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 60, 61, 252, 253, 508, 509, 2043, 2044, 2045, 4096, 8192, 16384})
  void shouldDeliverAMessageOfEveryKindOfLength(int length) {
    Rings rings = new Rings(LAYOUT, true);
    for (int i = 0; i < 200; i++) {
      assertThat(rings.send(Rings.message(length, i))).isTrue();
      assertThat(rings.receive()).isEqualTo(Rings.message(length, i));
    }
  }

  @Test
  void shouldNotShowAMessageBeforeItIsPublished() {
    Rings rings = new Rings(LAYOUT, true);
    rings.stage(new byte[] {1});
    rings.stage(new byte[] {2});
    assertThat(rings.consumer.next()).isFalse();

    rings.producer.publish();

    assertThat(rings.receive()).containsExactly(1);
    assertThat(rings.receive()).containsExactly(2);
  }

  @Test
  void shouldSurviveTheLapNumberStartingAgainFromZero() {
    Rings rings = new Rings(new RingLayout(2, 0, 8), true);
    for (int i = 0; i < 3 * RingHeader.LAPS * rings.layout.slots(); i++) {
      assertThat(rings.consumer.next()).as("nothing before message %d", i).isFalse();
      assertThat(rings.send(Rings.message(8, i))).isTrue();
      assertThat(rings.receive()).isEqualTo(Rings.message(8, i));
    }
  }

  @Test
  void shouldNotTakeSlotsThatWereLeftOutForManyLapsForMessages() {
    // messages of 3 slots in a ring of 64 leave out the last one, lap after lap, until its number
    // comes round again
    Rings rings = new Rings(LAYOUT, true);
    for (int i = 0; i < (RingHeader.LAPS + 10) * 21; i++) {
      assertThat(rings.send(Rings.message(700, i))).isTrue();
      assertThat(rings.receive()).isEqualTo(Rings.message(700, i));
      assertThat(rings.consumer.next()).isFalse();
    }
  }

  @Test
  void shouldNotMistakePayloadForHeaders() {
    Rings rings = new Rings(LAYOUT, true);
    byte[] headers = new byte[4000];
    for (int lap = 1; lap < 40; lap++) {
      // bytes that look like the headers of the next lap, wherever a slot may start
      MemorySegment view = MemorySegment.ofArray(headers);
      int header = RingHeader.of(RingHeader.TYPE_INLINE, lap + 1, 8);
      for (int i = 0; i + 4 <= headers.length; i += 4) {
        view.set(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, i, header);
      }
      for (int i = 0; i < 5; i++) {
        assertThat(rings.send(headers)).isTrue();
        assertThat(rings.receive()).isEqualTo(headers);
        assertThat(rings.consumer.next()).isFalse();
      }
    }
  }

  @Test
  void shouldGiveRoomBackInAnyOrderOfRelease() {
    Rings rings = new Rings(LAYOUT, true);
    int length = 8 * 1024; // two fill the buffer
    assertThat(rings.send(new byte[length])).isTrue();
    assertThat(rings.send(new byte[length])).isTrue();
    assertThat(rings.send(new byte[length])).isFalse();
    rings.consumer.next();
    final int first = rings.consumer.messageLine();
    rings.consumer.advance();
    rings.consumer.next();
    int second = rings.consumer.messageLine();
    rings.consumer.advance();
    rings.consumer.acknowledge();
    assertThat(rings.send(new byte[length])).as("both are held").isFalse();

    rings.consumer.release(second);

    assertThat(rings.send(new byte[length])).as("the younger one is free").isTrue();
    assertThat(rings.send(new byte[length])).isFalse();
    rings.consumer.release(first);
    assertThat(rings.send(new byte[length])).isTrue();
  }

  @Test
  void shouldNeverOverrunTheReleaseRing() {
    // far more lines than the release ring has entries for, so that lines alone would not stop the
    // sender
    Rings rings = new Rings(new RingLayout(4, 60_000, 5_000), true);
    int sent = 0;
    for (int round = 0; round < 2_000; round++) {
      while (rings.send(Rings.message(1_020 + 70, sent))) {
        sent++;
      }
      while (rings.consumer.next()) {
        rings.receive();
      }
    }
    assertThat(sent).isGreaterThan(2_000 * 15);
  }

  @Test
  void shouldTellTheSenderOnceThatAReceiverSleeps() {
    Rings rings = new Rings(LAYOUT, true);
    rings.consumer.armSleep();
    rings.stage(new byte[1]);
    assertThat(rings.producer.publish()).isTrue();
    rings.stage(new byte[1]);
    assertThat(rings.producer.publish()).isFalse();
  }

  @Test
  void shouldTellTheReceiverThatASenderSleepsWhenSlotsOrLinesBecomeFree() {
    Rings rings = new Rings(LAYOUT, true);
    rings.send(new byte[10_000]);
    rings.producer.armSleep();
    rings.consumer.next();
    final int line = rings.consumer.messageLine();
    rings.consumer.advance();
    assertThat(rings.consumer.acknowledge()).isTrue();
    rings.producer.armSleep();
    assertThat(rings.consumer.release(line)).isTrue();
    rings.producer.armSleep();
    rings.producer.disarmSleep();
    assertThat(rings.consumer.acknowledge()).isFalse();
  }

  @Test
  void shouldShowTheProgramReceivedMessagesReadOnly() {
    Rings rings = new Rings(LAYOUT, true);
    rings.send(new byte[8]);
    rings.send(new byte[10_000]);
    for (int i = 0; i < 2; i++) {
      rings.consumer.next();
      assertThat(rings.consumer.messageMemory().isReadOnly()).isTrue();
      rings.consumer.advance();
    }
  }

  @Test
  void shouldRefuseALayoutThatCannotBe() {
    assertThatThrownBy(() -> new RingLayout(1, 0, 8)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new RingLayout(40, 0, 8)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new RingLayout(10, -1, 8))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new RingLayout(10, RingLayout.MAX_LINES + 1, 8))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new RingLayout(10, 100, 100 * RingLayout.LINE + 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new RingLayout(10, 100, -1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldKeepWhatDifferentSidesWriteTwoCacheLinesApart() {
    assertThat(RingLayout.SENDER_ASLEEP - RingLayout.DESCRIPTOR_SIZE).isGreaterThanOrEqualTo(128);
    assertThat(RingLayout.CONSUMED - RingLayout.SENDER_CLOSED).isGreaterThanOrEqualTo(128);
    assertThat(RingLayout.RECEIVER_ASLEEP - RingLayout.CONSUMED).isGreaterThanOrEqualTo(128);
    assertThat(RingLayout.RELEASES - RingLayout.RECEIVER_ASLEEP).isGreaterThanOrEqualTo(128);
    assertThat(LAYOUT.slotsOffset() % 4096).isZero();
  }
}
