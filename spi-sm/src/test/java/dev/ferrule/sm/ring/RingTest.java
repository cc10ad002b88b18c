// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RingTest {

  private static final int PAGE = 4096;
  private static final RingLayout LAYOUT = new RingLayout(6, 256, 256 * RingLayout.LINE);

  @TempDir private Path folder;

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
        view.set(ValueLayout.JAVA_INT_UNALIGNED, i, header);
      }
      for (int i = 0; i < 5; i++) {
        assertThat(rings.send(headers)).isTrue();
        assertThat(rings.receive()).isEqualTo(headers);
        assertThat(rings.consumer.next()).isFalse();
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 64", "1, 32", "8, 21", "20, 10", "60, 4", "64, 3", "80, 3", "81, 1", "124, 1"})
  void shouldPutShortMessagesBehindEachOtherIntoASlot(int length, int inASlot) {
    Rings rings = new Rings(new RingLayout(2, 0, 252), true);
    for (int lap = 0; lap < 3; lap++) {
      int sent = 0;
      while (rings.send(Rings.message(length, sent))) {
        sent++;
      }
      assertThat(sent).isEqualTo(inASlot * (rings.layout.slots() - 1));
      for (int i = 0; i < sent; i++) {
        assertThat(rings.receive()).isEqualTo(Rings.message(length, i));
      }
      assertThat(rings.consumer.next()).isFalse();
    }
  }

  @Test
  void shouldEndASlotInWhichTheNextMessageDoesNotFit() {
    Rings rings = new Rings(LAYOUT, true);
    int[] lengths = {8, 80, 80, 80, 8, 100, 8, 252, 8, 700, 8, 10_000, 0, 80, 80, 80};
    for (int lap = 0; lap < 20; lap++) {
      for (int i = 0; i < lengths.length; i++) {
        rings.stage(Rings.message(lengths[i], lap + i));
        if (lap % 2 == 0) {
          rings.producer.publish(); // and else all at once
        }
      }
      rings.producer.publish();
      for (int i = 0; i < lengths.length; i++) {
        assertThat(rings.receive()).isEqualTo(Rings.message(lengths[i], lap + i));
      }
      assertThat(rings.consumer.next()).isFalse();
    }
  }

  @Test
  void shouldNotMistakeBytesOfALongMessageForTheHeaderOfWhatComesNext() {
    Rings rings = new Rings(new RingLayout(5, 0, 2000), true);
    Random random = new Random(7);
    for (int i = 0; i < 30_000; i++) {
      byte[] headers = new byte[random.nextInt(2001)];
      int lap = 1 + random.nextInt(RingHeader.LAPS - 1);
      MemorySegment view = MemorySegment.ofArray(headers);
      for (int at = 0; at + 4 <= headers.length; at += 4) {
        view.set(
            ValueLayout.JAVA_INT_UNALIGNED,
            at,
            RingHeader.of(RingHeader.TYPE_INLINE, lap & RingHeader.LAPS - 1, 8));
      }
      assertThat(rings.send(headers)).isTrue();
      assertThat(rings.receive()).isEqualTo(headers);
      assertThat(rings.consumer.next()).isFalse();
    }
  }

  @Test
  void shouldNotMistakeBytesOfShortMessagesForHeaders() {
    Rings rings = new Rings(new RingLayout(2, 0, 252), true);
    Random random = new Random(5);
    for (int i = 0; i < 20_000; i++) {
      byte[] headers = new byte[random.nextInt(110)];
      int lap = 1 + random.nextInt(4000);
      for (int at = 0; at + 4 <= headers.length; at += 4) {
        MemorySegment.ofArray(headers)
            .set(
                ValueLayout.JAVA_INT_UNALIGNED,
                at,
                RingHeader.of(RingHeader.TYPE_INLINE, lap, random.nextInt(90)));
      }
      assertThat(rings.send(headers)).isTrue();
      assertThat(rings.receive()).isEqualTo(headers);
      assertThat(rings.consumer.next()).isFalse();
    }
  }

  @Test
  void shouldLeaveNothingOfAMessageWhoseMemoryIsGone() throws IOException {
    Rings rings = new Rings(LAYOUT, true);
    Path file = folder.resolve("truncated");
    Files.write(file, new byte[2 * PAGE]);
    try (Arena arena = Arena.ofShared();
        FileChannel channel = FileChannel.open(file, READ, WRITE)) {
      MemorySegment source = channel.map(FileChannel.MapMode.READ_WRITE, 0, 2 * PAGE, arena);
      source.fill((byte) RingHeader.of(RingHeader.TYPE_INLINE, 1, 4));
      rings.send(Rings.message(8, 1));
      channel.truncate(PAGE);
      rings.producer.reserve(60);
      assertThatThrownBy(() -> rings.producer.stageInline(source, PAGE - 40, 60, 60))
          .isInstanceOf(InternalError.class);
      rings.producer.unreserve(RingProducer.INLINE, 60);
    }
    assertThat(rings.receive()).isEqualTo(Rings.message(8, 1));
    assertThat(rings.consumer.next()).isFalse();
    for (int i = 0; i < 20; i++) {
      rings.send(Rings.message(4, i));
      assertThat(rings.receive()).isEqualTo(Rings.message(4, i));
      assertThat(rings.consumer.next()).isFalse();
    }
  }

  @Test
  void shouldLetAProgramClaimAllButTheSlotThatIsOpenAndTheOneThatIsFree() {
    Rings rings = new Rings(new RingLayout(2, 0, 252), true);
    rings.send(new byte[8]);
    for (int i = 0; i < 2; i++) {
      assertThat(rings.producer.reserve(8)).isEqualTo(RingProducer.INLINE);
    }
    assertThat(rings.producer.reserve(8)).isEqualTo(RingProducer.FULL);
    rings.receive();
    assertThat(rings.producer.isAnythingOut()).as("only what the sender holds").isFalse();
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
    assertThat(sent).isGreaterThan(2_000 * 14);
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
