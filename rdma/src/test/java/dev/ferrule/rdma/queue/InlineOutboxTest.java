// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.RawMemory;
import dev.ferrule.rdma.fake.RecordingCallbacks;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.rdma.fake.ScriptedDevice.Send;
import dev.ferrule.verbs.CompletionQueue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Senders whose messages are inline. */
class InlineOutboxTest {

  private static final int UNACKED = 200;
  private static final int LINES = 2;
  private static final int INLINE = 100;

  private final ScriptedDevice device = new ScriptedDevice();
  private final CompletionQueue completions = device.completionQueue();
  private final RecordingCallbacks callbacks = new RecordingCallbacks();
  private final FakeProtocol protocol = new FakeProtocol(UNACKED);
  private final SendQueue queue =
      new SendQueue(
          new Channel.Parts(
              device.queuePair(77),
              completions,
              device.sendMemory(LINES * SendQueue.LINE),
              UNACKED,
              INLINE,
              callbacks),
          protocol);
  private final Outbox one = queue.newOutbox();
  private final MemorySegment source = Arena.ofAuto().allocate(1024);

  private static int reserve(Outbox outbox, int length) {
    int place = outbox.reserve(length, length);
    assertThat(place).isNotNegative();
    return place;
  }

  private static void stage(Outbox outbox, int count) {
    for (int i = 0; i < count; i++) {
      outbox.stage(reserve(outbox, 1), 1, 1);
    }
  }

  /** Reserves as many messages as possible for a sender; returns their number. */
  private static int reserveAll(Outbox outbox) {
    int count = 0;
    while (outbox.reserve(1, 0) > SendQueue.FULL) {
      count++;
    }
    return count;
  }

  /** Makes the device read inline bytes when a request is posted, and returns what it has read. */
  private List<Integer> readsInlineBytes() {
    List<Integer> read = new ArrayList<>();
    device.onSend =
        send -> {
          assertThat(send.isInline()).isTrue();
          read.add(RawMemory.getByte(send.address()));
        };
    return read;
  }

  @Test
  void inlineMessagesTakeNoSendMemoryThatOnlyACompletionFrees() {
    Outbox other = queue.newOutbox();
    for (int i = 0; i < UNACKED; i++) {
      int place = reserve(one, INLINE);
      one.stage(place, INLINE, INLINE);
      one.publish();
    }
    assertThat(device.sends()).hasSize(UNACKED).allMatch(Send::isInline);
    assertThat(other.reserve(1, 1)).as("only requests are lacking").isEqualTo(SendQueue.FULL);
  }

  @Test
  void theHeaderOfAGatheredMessageKeepsItsLinesUntilTheCompletion() {
    Outbox other = queue.newOutbox();
    int place = one.reserve(1000, 8);
    one.memory(place).asSlice(one.offset(place), 8).fill((byte) 3);
    one.stageGather(place, 8, source.address(), 992, 42);
    stage(one, 1);
    int second = one.reserve(1000, 0);
    one.stageGather(second, 0, source.address(), 1000, 42);
    one.publish();

    Send gathered = device.sends().get(0);
    assertThat(gathered.isInline()).isFalse();
    assertThat(gathered.length()).isEqualTo(8);
    assertThat(RawMemory.getByte(gathered.address())).isEqualTo(3);
    assertThat(gathered.key()).isEqualTo(ScriptedDevice.LOCAL_KEY);
    assertThat(gathered.second()).isEqualTo(new ScriptedDevice.Second(source.address(), 992, 42));
    assertThat(device.sends().get(1).second()).isNull();
    assertThat(device.sends().get(2).second()).isNull();
    assertThat(device.sends().get(2).length()).isEqualTo(1000);
    assertThat(other.reserve(1000, 65)).as("one line is in use").isEqualTo(SendQueue.FULL);

    device.sent(completions, device.lastSend().id());
    assertThat(one.isComplete(3)).isTrue();
    assertThat(other.reserve(1000, 65)).isZero();
  }

  @Test
  void placesOfInlineMessagesDoNotOverlap() {
    List<Integer> read = readsInlineBytes();
    List<Integer> places = new ArrayList<>();
    for (int i = 0; i < SendQueue.MAX_CHAIN; i++) {
      int place = reserve(one, INLINE);
      places.add(place);
      one.memory(place).asSlice(one.offset(place), INLINE).fill((byte) i);
    }
    for (int i = 0; i < SendQueue.MAX_CHAIN; i++) {
      one.stage(places.get(i), INLINE, INLINE);
    }
    one.publish();
    assertThat(read).hasSize(SendQueue.MAX_CHAIN);
    for (int i = 0; i < SendQueue.MAX_CHAIN; i++) {
      assertThat(read.get(i)).isEqualTo(i);
    }
  }

  @Test
  void inlineMessagesTakeLinesWhenAllSlotsAreClaimed() {
    List<Integer> places = new ArrayList<>();
    for (int i = 0; i < SendQueue.MAX_CHAIN + LINES; i++) {
      places.add(reserve(one, 1));
    }
    assertThat(one.reserve(1, 1)).isEqualTo(SendQueue.HELD);
    for (int place : places) {
      one.unreserve(place, 1);
    }
    for (int i = 0; i < SendQueue.MAX_CHAIN + LINES; i++) {
      reserve(one, 1);
    }
  }

  @Test
  void aSentMessageIsCopiedAndPostedAtOnce() {
    List<Integer> read = readsInlineBytes();
    for (int i = 1; i <= 3; i++) {
      source.set(ValueLayout.JAVA_BYTE, 8, (byte) i);
      assertThat(one.trySend(source, 8, 64)).isNotNegative();
    }
    assertThat(read).containsExactly(1, 2, 3);
    assertThat(one.posted()).isEqualTo(3);
    assertThat(one.lastId()).isEqualTo(3);
    assertThat(one.held()).isZero();
    assertThat(one.trySend(source, 0, 0)).as("without bytes").isNotNegative();
  }

  @Test
  void aMessageThatCannotBeSentImmediatelyMustBeReserved() {
    Outbox other = queue.newOutbox();
    assertThat(one.trySend(source, 0, INLINE + 1)).as("too long").isEqualTo(SendQueue.FULL);
    stage(one, 1);
    assertThat(one.trySend(source, 0, 1)).as("behind a staged one").isEqualTo(SendQueue.FULL);
    one.publish();
    assertThat(reserveAll(other)).isEqualTo(UNACKED - 1);
    assertThat(one.trySend(source, 0, 1)).as("without space").isEqualTo(SendQueue.FULL);
    assertThat(device.sends()).extracting(Send::length).startsWith(1);
    assertThat(one.posted()).isEqualTo(1);
  }

  @Test
  void aMessageWhoseSourceIsClosedTakesNothing() {
    MemorySegment closed;
    try (Arena arena = Arena.ofConfined()) {
      closed = arena.allocate(64);
    }
    assertThatThrownBy(() -> one.trySend(closed, 0, 64)).isInstanceOf(IllegalStateException.class);
    assertThat(reserveAll(one)).isEqualTo(UNACKED);
  }

  @Test
  void theFirstMessageInFlightWakesThreadsThatWaitForRoom() {
    Outbox other = queue.newOutbox();
    other.armForRoom();
    assertThat(one.trySend(source, 0, 8)).isNotNegative();
    assertThat(callbacks.progress).hasValue(1);
    other.armForRoom();
    assertThat(one.trySend(source, 0, 8)).isNotNegative();
    assertThat(callbacks.progress).as("they wait for its completion now").hasValue(1);
  }

  @Test
  void aMessageThatTheDeviceRefusesIsReported() {
    device.sendErrno = Errno.ENOMEM;
    assertThat(one.trySend(source, 0, 64)).isEqualTo(SendQueue.FAILED);
    assertThat(callbacks.told).containsExactly("ibv_post_send " + Errno.ENOMEM);
  }

  @Test
  void aBatchHoldsAtMostTwiceTheSpaceThatItUses() {
    for (int count = 1; count < SendQueue.MAX_CHAIN; count++) {
      stage(one, 1);
      assertThat(one.held()).isLessThanOrEqualTo(2L * count);
    }
    stage(one, 1);
    assertThat(one.held()).isEqualTo(SendQueue.MAX_CHAIN);
  }

  @Test
  void aPostedBatchGivesBackTheSpaceThatItDidNotUse() {
    stage(one, 5);
    long held = one.held();
    Outbox other = queue.newOutbox();
    assertThat(held).as("with space for more").isGreaterThan(5);
    assertThat(reserveAll(other)).isEqualTo(UNACKED - (int) held);

    one.publish();

    assertThat(one.held()).isZero();
    assertThat(reserveAll(other)).isEqualTo((int) held - 5);
  }

  @Test
  void aPostedBatchWakesTheOthersThatWaitForTheSpaceThatItDidNotUse() {
    stage(one, 1);
    one.publish(); // makes a message outstanding
    stage(one, 5);
    assertThat(one.held()).isGreaterThan(5);
    Outbox other = queue.newOutbox();
    other.armForRoom();
    one.publish();
    assertThat(callbacks.progress).hasValue(1);
  }

  @Test
  void messagesOfAnyLengthInABatchTakeAndReturnWhatIsReservedForThem() {
    SplittableRandom random = new SplittableRandom(1);
    for (int batch = 0; batch < 1000; batch++) {
      for (int i = random.nextInt(1, SendQueue.MAX_CHAIN); i > 0; i--) {
        int length = random.nextInt(random.nextBoolean() ? 4 : INLINE + 1);
        int place = one.reserve(length, length);
        assertThat(place).isGreaterThan(SendQueue.FULL);
        if (random.nextInt(4) == 0) {
          one.unreserve(place, length);
        } else {
          one.stage(place, length, random.nextInt(length + 1));
        }
      }
      one.publish();
      assertThat(protocol.reservedBytes()).isZero();
      assertThat(one.held()).isZero();
      protocol.grant(SendQueue.MAX_CHAIN);
      queue.isDrained(); // makes the last request signaled
      device.sent(completions, device.lastSend().id());
      assertThat(queue.isDrained()).isTrue();
    }
  }

  @Test
  void aSenderWithoutSpaceUsesTheSpaceReservedForTheRestOfItsBatch() {
    stage(one, 10);
    long spare = one.held() - 10;
    assertThat(spare).isPositive();
    Outbox other = queue.newOutbox();
    reserveAll(other);
    other.armForRoom();
    for (int i = 0; i < spare; i++) {
      assertThat(one.reserve(INLINE, 0)).isEqualTo(SendQueue.NO_LINES);
    }
    assertThat(one.reserve(INLINE, 0)).isEqualTo(SendQueue.FULL);
    assertThat(callbacks.progress).as("the other looks whether there is some left").hasValue(1);
  }

  @Test
  void besideOtherSendersABatchHoldsNoMoreThanItUses() {
    queue.newOutbox();
    stage(one, 10);
    assertThat(one.held()).isEqualTo(10);
  }

  @Test
  void claimsInABatchAreLimitedToo() {
    protocol.maxClaimed = 3;
    stage(one, 10);
    for (int i = 0; i < 3; i++) {
      reserve(one, 1);
    }
    assertThat(one.reserve(1, 1)).isEqualTo(SendQueue.HELD);
  }

  @Test
  void claimsOfLongMessagesInABatchAreLimitedWithThoseOfShortOnes() {
    protocol.maxClaimed = 3;
    stage(one, 10);
    int claimed = 0;
    while (one.reserve(INLINE + 1, INLINE + 1) > SendQueue.FULL) {
      claimed++;
    }
    while (one.reserve(1, 1) > SendQueue.FULL) {
      claimed++;
    }
    assertThat(claimed).isLessThanOrEqualTo(3);
  }
}
