// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ferrule.MessageHandler;
import dev.ferrule.posix.Membarrier;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RingTest {

  private static final RuntimeException FAILURE = new RuntimeException("of a step");

  private static final RingLayout LAYOUT = new RingLayout(14, 256, 256 * RingLayout.LINE);

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 8, 9, 56, 57, 64, 2039, 2040, 2041, 4096, 8192, 16384})
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

  @ParameterizedTest
  @CsvSource({"0, 511", "1, 255", "8, 255", "9, 170", "56, 63", "57, 56"})
  void shouldPutMessagesSideBySide(int length, int inARing) {
    Rings rings = new Rings(new RingLayout(12, 0, 252), true);
    for (int round = 0; round < 20; round++) {
      int sent = 0;
      while (rings.send(Rings.message(length, sent))) {
        sent++;
      }
      assertThat(sent).isBetween(inARing - 1, inARing); // one less where a record meets the end
      for (int i = 0; i < sent; i++) {
        assertThat(rings.receive()).isEqualTo(Rings.message(length, i));
      }
      assertThat(rings.consumer.next()).isFalse();
    }
  }

  @Test
  void shouldDeliverMessagesOfAllKindsBehindEachOther() {
    Rings rings = new Rings(LAYOUT, true);
    int[] lengths = {8, 80, 80, 80, 8, 100, 8, 252, 8, 700, 8, 10_000, 0, 80, 80, 80};
    for (int lap = 0; lap < 200; lap++) {
      for (int i = 0; i < lengths.length; i++) {
        assertThat(rings.stage(Rings.message(lengths[i], lap + i))).isTrue();
        if (lap % 2 == 0) {
          rings.producer.publish(); // and otherwise all at once
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
  void shouldNotReadOldPayloadAsHeaders() {
    Rings rings = new Rings(new RingLayout(12, 0, 500), true);
    Random random = new Random(7);
    for (int i = 0; i < 100_000; i++) {
      byte[] headers = new byte[random.nextInt(501)];
      for (int at = 0; at + 8 <= headers.length; at += 8) {
        MemorySegment.ofArray(headers)
            .set(ValueLayout.JAVA_LONG_UNALIGNED, at, RecordHeader.inline(random.nextInt(90)));
      }
      assertThat(rings.send(headers)).isTrue();
      assertThat(rings.receive()).isEqualTo(headers);
      assertThat(rings.consumer.next()).isFalse();
    }
  }

  /** Fails as an access to freed memory may. */
  private static void failWhenWritten(RingTestPoint step) {
    if (step == RingTestPoint.RECORD_WRITTEN) {
      throw FAILURE;
    }
  }

  @AfterEach
  void removeHook() {
    RingTestHook.ignore();
  }

  @Test
  void shouldLeaveNothingOfAMessageWhoseCopyFailed() {
    Rings rings = new Rings(LAYOUT, true);
    rings.send(Rings.message(8, 1));
    rings.producer.reserve(160);
    RingTestHook.onReached(RingTest::failWhenWritten);
    assertThatThrownBy(() -> rings.producer.stageInline(headers(160), 0, 160, 160))
        .isSameAs(FAILURE);
    RingTestHook.ignore();
    rings.producer.unreserve(RingProducer.INLINE, 160);
    assertThat(rings.receive()).isEqualTo(Rings.message(8, 1));
    assertThat(rings.consumer.next()).isFalse();
    for (int i = 0; i < 20; i++) {
      rings.send(Rings.message(4, i));
      assertThat(rings.receive()).isEqualTo(Rings.message(4, i));
      assertThat(rings.consumer.next()).isFalse();
    }
  }

  /** The header of 0 that is stored ahead of time behind a message may have been overwritten. */
  @Test
  void shouldLeaveNothingOfABatchedMessageWhoseCopyFailed() {
    Rings rings = new Rings(LAYOUT, true);
    MemorySegment shortMessage = MemorySegment.ofArray(Rings.message(8, 1));
    assertThat(rings.producer.trySend(shortMessage, 0, 8)).isZero();
    RingTestHook.onReached(RingTest::failWhenWritten);
    assertThatThrownBy(() -> rings.producer.tryStage(headers(500), 0, 500)).isSameAs(FAILURE);
    RingTestHook.ignore();
    assertThat(rings.producer.messagesUnpublished()).isZero();
    assertThat(rings.receive()).isEqualTo(Rings.message(8, 1));
    assertThat(rings.producer.trySend(shortMessage, 0, 8)).isZero();
    assertThat(rings.receive()).isEqualTo(Rings.message(8, 1));
    assertThat(rings.consumer.next()).isFalse();
  }

  /** Returns a message that looks like records wherever it is read. */
  private static MemorySegment headers(int length) {
    MemorySegment memory = MemorySegment.ofArray(new byte[length]);
    for (long at = 0; at + 8 <= length; at += 8) {
      memory.set(ValueLayout.JAVA_LONG_UNALIGNED, at, RecordHeader.inline(8));
    }
    return memory;
  }

  @Test
  void shouldNotReadOldPayloadAsTheHeaderBehindABatch() {
    Rings rings = new Rings(new RingLayout(12, 0, 500), true);
    Random random = new Random(8);
    for (int i = 0; i < 50_000; i++) {
      MemorySegment headers = headers(8 * random.nextInt(1, 20));
      int count = random.nextInt(1, 6);
      for (int staged = 0; staged < count; staged++) {
        if (!rings.producer.tryStage(headers, 0, headers.byteSize())) {
          rings.stage(headers.toArray(JAVA_BYTE));
        }
        assertThat(rings.consumer.next()).as("a message before it is published").isFalse();
      }
      rings.producer.publish();
      for (int received = 0; received < count; received++) {
        assertThat(rings.receive()).isEqualTo(headers.toArray(JAVA_BYTE));
      }
      assertThat(rings.consumer.next()).isFalse();
    }
  }

  @Test
  void shouldStageACopyBesideMessagesThatWereStagedInSteps() {
    Rings rings = new Rings(LAYOUT, true);
    MemorySegment message = MemorySegment.ofArray(Rings.message(8, 1));
    rings.stage(Rings.message(3_000, 2));
    assertThat(rings.producer.tryStage(message, 0, 8)).as("nothing is reserved").isTrue();
    rings.producer.reserve(8);
    assertThat(rings.producer.tryStage(message, 0, 8)).as("a record is reserved").isFalse();
    assertThat(rings.producer.trySend(message, 0, 8)).isEqualTo(RingProducer.NOT_SENT);
    rings.producer.unreserve(RingProducer.INLINE, 8);
    assertThat(rings.producer.tryStage(message, 0, 8)).isTrue();
    assertThat(rings.producer.trySend(message, 0, 8)).isEqualTo(RingProducer.NOT_SENT);
    assertThat(rings.consumer.next()).isFalse();
    assertThat(rings.producer.messagesUnpublished()).isEqualTo(3);

    rings.producer.publish();

    assertThat(rings.producer.messagesUnpublished()).isZero();
    assertThat(rings.receive()).isEqualTo(Rings.message(3_000, 2));
    assertThat(rings.receive()).isEqualTo(Rings.message(8, 1));
    assertThat(rings.receive()).isEqualTo(Rings.message(8, 1));
    assertThat(rings.producer.trySend(message, 0, 8)).isZero();
    assertThat(rings.receive()).isEqualTo(Rings.message(8, 1));
  }

  @Test
  void shouldClaimInTheRingAndSendFromThere() {
    Rings rings = new Rings(LAYOUT, true);
    for (int i = 0; i < 2_000; i++) {
      byte[] message = Rings.message(100, i);
      long place = rings.claim(message);
      assertThat(place).isNotEqualTo(RingProducer.NO_OFFSET);
      rings.producer.stageClaim(100);
      rings.producer.publish();
      assertThat(rings.consumer.next()).isTrue();
      assertThat(rings.consumer.messageOffset()).as("zero-copy").isEqualTo(place);
      assertThat(rings.receive()).isEqualTo(message);
    }
  }

  @Test
  void shouldSendAClaimedRegionBehindWhatWasSentSince() {
    Rings rings = new Rings(LAYOUT, true);
    for (int i = 0; i < 1_000; i++) {
      rings.claim(Rings.message(100, i));
      assertThat(rings.send(Rings.message(30, -i))).isTrue();
      rings.producer.stageClaim(100);
      rings.producer.publish();
      assertThat(rings.receive()).isEqualTo(Rings.message(30, -i));
      assertThat(rings.receive()).isEqualTo(Rings.message(100, i));
      assertThat(rings.consumer.next()).isFalse();
    }
  }

  @Test
  void shouldSkipARegionThatStaysClaimed() {
    Rings rings = new Rings(new RingLayout(12, 0, 500), true);
    rings.send(new byte[333]);
    rings.receive();
    rings.claim(Rings.message(500, 7));
    for (int i = 0; i < 10_000; i++) {
      assertThat(rings.send(Rings.message(i % 501, i))).isTrue();
      assertThat(rings.receive()).isEqualTo(Rings.message(i % 501, i));
    }
    rings.producer.stageClaim(500);
    rings.producer.publish();
    assertThat(rings.receive()).isEqualTo(Rings.message(500, 7));
  }

  @Test
  void shouldSkipAMessageThatStaysHeld() {
    Rings rings = new Rings(new RingLayout(12, 0, 500), true);
    rings.send(new byte[333]);
    rings.receive();
    rings.send(Rings.message(500, 7));
    assertThat(rings.consumer.next()).isTrue();
    assertThat(rings.consumer.hold()).isTrue();
    final MemorySegment heldMessage =
        rings.consumer.messageMemory().asSlice(rings.consumer.messageOffset(), 500);
    rings.consumer.advance();
    rings.consumer.acknowledge();
    for (int i = 0; i < 10_000; i++) {
      assertThat(rings.send(Rings.message(i % 501, i))).isTrue();
      assertThat(rings.receive()).isEqualTo(Rings.message(i % 501, i));
      assertThat(heldMessage.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(Rings.message(500, 7));
    }
    assertThat(rings.consumer.hold()).as("one at a time").isFalse();
    assertThat(rings.consumer.endHold()).isFalse();
    assertThat(rings.producer.isReceiverHoldingRoom()).isFalse();
  }

  @Test
  void shouldNotGiveTheRoomOfAHeldMessageBack() {
    Rings rings = new Rings(new RingLayout(12, 0, 500), true);
    rings.send(new byte[500]);
    rings.consumer.next();
    rings.consumer.hold();
    rings.consumer.advance();
    assertThat(rings.consumer.acknowledge()).isFalse();
    assertThat(rings.producer.isReceiverHoldingRoom()).isTrue();
    assertThat(rings.consumer.endHold()).isFalse();
    assertThat(rings.producer.isReceiverHoldingRoom()).isFalse();
  }

  /** Otherwise the sender's processor waits for each of their cache lines. */
  @Test
  void shouldClearTheRecordsOfAStream() {
    Rings rings = new Rings(LAYOUT, true);
    for (int round = 0; round < 20; round++) {
      for (int i = 0; i < 50; i++) {
        assertThat(rings.send(Rings.message(20, i + 1))).isTrue();
      }

      assertThat(rings.consumer.pollInline((buffer, offset, length) -> {}, 50)).isEqualTo(50);

      MemorySegment records = rings.producer.records();
      assertThat(records.mismatch(MemorySegment.ofArray(new byte[LAYOUT.capacity()])))
          .as("the first byte that is not zero")
          .isEqualTo(-1);
      rings.consumer.acknowledge();
    }
  }

  @Test
  void shouldPassInlineMessagesUntilAnotherRecordFollows() {
    Rings rings = new Rings(LAYOUT, true);
    for (int i = 0; i < 5; i++) {
      rings.send(Rings.message(20, i));
    }
    rings.send(new byte[10_000]);
    List<Byte> seen = new ArrayList<>();
    MessageHandler handler = (buffer, offset, length) -> seen.add(buffer.get(JAVA_BYTE, offset));
    assertThat(rings.consumer.pollInline(handler, 2)).isEqualTo(2);
    assertThat(rings.consumer.pollInline(handler, 10)).isEqualTo(3);
    assertThat(rings.consumer.pollInline(handler, 10)).isZero();
    assertThat(seen).containsExactly((byte) 0, (byte) 1, (byte) 2, (byte) 3, (byte) 4);
    assertThat(rings.consumer.next()).isTrue();
    assertThat(rings.found()).hasSize(10_000);
  }

  @Test
  void shouldCountAMessageAsReceivedWhoseHandlerThrows() {
    Rings rings = new Rings(LAYOUT, true);
    rings.send(Rings.message(20, 1));
    rings.send(Rings.message(20, 2));
    assertThatThrownBy(() ->
            rings.consumer.pollInline(
                (buffer, offset, length) -> {
                  throw new IllegalArgumentException("no");
                },
                10))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(rings.consumer.messages()).isEqualTo(1);
    assertThat(rings.receive()).isEqualTo(Rings.message(20, 2));
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

    assertThat(rings.send(new byte[length])).as("the later one is free").isTrue();
    assertThat(rings.send(new byte[length])).isFalse();
    rings.consumer.release(first);
    assertThat(rings.send(new byte[length])).isTrue();
  }

  @Test
  void shouldNeverOverrunTheReleaseRing() {
    // far more lines than the release ring has entries, so that lines alone would not stop the
    // sender
    Rings rings = new Rings(new RingLayout(11, 60_000, 5_000), true);
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
  void shouldReportASleepingReceiverUntilItIsWoken() {
    Rings rings = new Rings(LAYOUT, true);
    rings.sleep.arm(false);
    rings.stage(new byte[1]);
    int flag = rings.producer.publish();
    assertThat(flag).isNotZero();
    rings.stage(new byte[1]);
    assertThat(rings.producer.publish()).isEqualTo(flag);
    rings.producer.clear(flag);
    rings.stage(new byte[1]);
    assertThat(rings.producer.publish()).isZero();
    assertThat(rings.sleep.isArmed()).isFalse();
  }

  @Test
  void shouldNotClearTheFlagOfALaterSleep() {
    Rings rings = new Rings(LAYOUT, true);
    rings.sleep.arm(false);
    rings.stage(new byte[1]);
    int flag = rings.producer.publish();
    rings.sleep.disarm();
    rings.sleep.arm(false);
    rings.producer.clear(flag);
    assertThat(rings.sleep.isArmed()).isTrue();
  }

  /** A message may have ended the first sleep before an earlier message was visible. */
  @Test
  void shouldRelyOnTheSendersFencesOnlyAfterASecondCheck() {
    assumeTrue(Membarrier.REGISTERED, "membarrier(2) does not exist");
    Rings rings = new Rings(LAYOUT, false);
    for (int i = 0; i < 2; i++) {
      rings.sleep.arm(false);
      assertThat(rings.sleep.isSure()).isFalse();
      rings.sleep.disarm();
    }
    rings.sleep.onDelayPassed();
    rings.sleep.arm(false);
    assertThat(rings.sleep.isSure()).isTrue();
    rings.sleep.disarm();

    rings.sleep.received(10_000);

    rings.sleep.arm(false);
    assertThat(rings.sleep.isSure()).as("after many messages without a sleep").isFalse();
  }

  @Test
  void shouldReportASleepingSenderToTheReceiverWhenSlotsOrLinesBecomeFree() {
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

  /**
   * The room of the held message is not at the end of the consumed records, so their count does not
   * change.
   */
  @Test
  void shouldReportASleepingSenderWhenTheHoldOfAnEarlierMessageEnds() {
    Rings rings = new Rings(new RingLayout(12, 0, 500), true);
    for (int i = 0; i < 2; i++) {
      rings.send(Rings.message(500, i));
    }
    rings.consumer.next();
    assertThat(rings.consumer.hold()).isTrue();
    rings.consumer.advance();
    rings.receive();
    rings.producer.armSleep();

    assertThat(rings.consumer.endHold()).isTrue();
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
  void shouldRefuseAnInvalidLayout() {
    assertThatThrownBy(() -> new RingLayout(4, 0, 0)).isInstanceOf(IllegalArgumentException.class);
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
    assertThat(LAYOUT.recordsOffset() % 4096).isZero();
  }
}
