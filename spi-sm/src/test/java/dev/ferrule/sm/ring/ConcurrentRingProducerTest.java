// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The sending side for several threads. */
class ConcurrentRingProducerTest {

  private static final int FULL = ConcurrentRingProducer.FULL;
  private static final RingLayout SMALL = new RingLayout(5, 64, 2_000);
  private static final IntPredicate ALL = line -> true;

  /** A message whose payload lines the consumer still holds. */
  private record Held(byte[] expected, long offset, int line) {}

  @Property(tries = 300)
  void behavesLikeAQueueWhateverTheOrderOfClaimsSendsReceivesAndFrees(
      @ForAll @IntRange(min = 5, max = 9) int ringShift,
      @ForAll @IntRange(min = 20, max = 400) int lines,
      @ForAll long seed) {
    SharedRings rings =
        new SharedRings(new RingLayout(ringShift, lines, lines * RingLayout.LINE / 3));
    Random random = new Random(seed);
    List<Integer> claims = new ArrayList<>();
    List<Integer> claimed = new ArrayList<>(); // their lengths
    ArrayDeque<byte[]> published = new ArrayDeque<>();
    List<Held> held = new ArrayList<>();
    long id = 0;

    for (int step = 0; step < 2_000; step++) {
      switch (random.nextInt(6)) {
        case 5 -> {
          byte[] message = Rings.message(random.nextInt(rings.producer.inlineMax() + 1), step);
          if (rings.send(message) != 0) {
            assertThat(rings.producer.messagesPublished()).isEqualTo(++id);
            published.add(message);
          }
        }
        case 0 -> {
          int length = random.nextInt(random.nextBoolean() ? 80 : rings.layout.maxMessage() + 1);
          int line = rings.producer.reserve(length);
          if (line != FULL) {
            claims.add(line);
            claimed.add(length);
          }
        }
        case 1 -> {
          if (!claims.isEmpty()) {
            int which = random.nextInt(claims.size());
            int line = claims.remove(which);
            int length = claimed.remove(which);
            if (random.nextInt(4) == 0) {
              rings.producer.abort(line);
            } else {
              byte[] message = Rings.message(random.nextInt(length + 1), step);
              assertThat(rings.publish(line, message)).isEqualTo(++id);
              published.add(message);
            }
          }
        }
        case 2, 3 -> {
          boolean found = rings.consumer.next();
          assertThat(found).isEqualTo(!published.isEmpty());
          if (found) {
            byte[] expected = published.remove();
            assertThat(rings.found()).isEqualTo(expected);
            if (rings.consumer.messageLine() != RingProducer.INLINE) {
              held.add(
                  new Held(expected, rings.consumer.messageOffset(), rings.consumer.messageLine()));
            }
            rings.consumer.advance();
            if (random.nextBoolean()) {
              rings.consumer.acknowledge();
            }
          }
        }
        default -> {
          if (!held.isEmpty()) {
            Held one = held.remove(random.nextInt(held.size()));
            assertIntact(rings, one);
            rings.consumer.release(one.line);
          }
        }
      }
    }
    held.forEach(one -> assertIntact(rings, one));
    hasAllItsRoomAgain(rings, claims, published, held);
  }

  private static void assertIntact(SharedRings rings, Held one) {
    byte[] now = new byte[one.expected.length];
    MemorySegment.copy(rings.buffer, one.offset, MemorySegment.ofArray(now), 0, now.length);
    assertThat(now).as("a held message").isEqualTo(one.expected);
  }

  private static void hasAllItsRoomAgain(
      SharedRings rings, List<Integer> claims, ArrayDeque<byte[]> published, List<Held> held) {
    claims.forEach(rings.producer::abort);
    while (!published.isEmpty()) {
      assertThat(rings.receive()).isEqualTo(published.remove());
    }
    held.forEach(one -> rings.consumer.release(one.line));
    rings.consumer.acknowledge();
    for (int i = 0; i < 3 * SharedRings.records(rings.layout); i++) {
      byte[] longest = Rings.message(rings.layout.maxMessage(), i);
      assertThat(rings.sendInLines(longest)).as("room for the longest message").isPositive();
      assertThat(Arrays.equals(rings.receive(), longest)).isTrue();
    }
    int room = 0;
    while (rings.sendInLines(new byte[0]) != 0) {
      room++;
    }
    assertThat(room)
        .as("every record, line and entry of the release ring is usable")
        .isEqualTo(
            Math.min(
                Math.min(SharedRings.records(rings.layout), rings.layout.releases()),
                rings.layout.lines()));
  }

  @Test
  void aMessageOfNoBytesAndOneThatFillsTheBufferArrive() {
    RingLayout layout = new RingLayout(5, 10, 640);
    SharedRings rings = new SharedRings(layout);
    for (int i = 0; i < 100; i++) {
      assertThat(rings.send(new byte[0])).isPositive();
      assertThat(rings.receive()).isEmpty();
      byte[] longest = Rings.message(640, i);
      assertThat(rings.send(longest)).isPositive();
      assertThat(rings.producer.reserve(0)).as("there is no line left").isEqualTo(FULL);
      assertThat(rings.receive()).isEqualTo(longest);
    }
  }

  @Test
  void aClaimedRecordIsAvailableWhenItIsUsed() {
    SharedRings rings = new SharedRings(SMALL);
    int[] lines = new int[3];
    for (int i = 0; i < 3; i++) {
      lines[i] = rings.producer.reserve(8);
    }
    assertThat(rings.producer.reserve(8)).isEqualTo(FULL);
    assertThat(rings.send(new byte[0])).as("claimed room is not available to copies").isZero();
    rings.producer.abort(lines[2]);
    lines[2] = rings.producer.reserve(8);
    for (int i = 2; i >= 0; i--) {
      assertThat(rings.publish(lines[i], Rings.message(8, i))).isEqualTo(3 - i);
    }
    assertThat(rings.producer.reserve(8)).as("nothing was received").isEqualTo(FULL);
    for (int i = 2; i >= 0; i--) {
      assertThat(rings.receive()).isEqualTo(Rings.message(8, i));
    }
    assertThat(rings.producer.reserve(8)).isNotEqualTo(FULL);
  }

  @Test
  void theReceiverHasAnEntryOfTheReleaseRingForEveryMessageThatItHolds() {
    SharedRings rings = new SharedRings(SMALL);
    List<Integer> held = new ArrayList<>();
    while (rings.send(new byte[8]) != 0) {
      assertThat(rings.consumer.next()).isTrue();
      held.add(rings.take());
    }
    assertThat(held).hasSize(SMALL.releases());
    held.forEach(rings.consumer::release);
    for (int i = 0; i < SharedRings.records(SMALL); i++) {
      assertThat(rings.send(new byte[8])).isPositive();
    }
  }

  @Test
  void lapsGoOnForLong() {
    SharedRings rings = new SharedRings(SMALL);
    int messages = 10_003 * SharedRings.records(SMALL);
    for (int i = 0; i < messages; i++) {
      assertThat(rings.send(Rings.message(4, i))).isEqualTo(i + 1);
      if (i % 3 == 2 || i == messages - 1) {
        for (int j = i - i % 3; j <= i; j++) {
          assertThat(rings.receive()).isEqualTo(Rings.message(4, j));
        }
      }
    }
  }

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void severalThreadsSendThroughAFullRingAndEachKeepsItsOrder() {
    severalThreadsSend(new RingLayout(5, 200, 2_000), 60_000, 500);
  }

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void severalThreadsSendLongRunsThatCrossWords() {
    severalThreadsSend(new RingLayout(7, 500, 12_000), 15_000, 11_000);
  }

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void severalThreadsSendInlineMessages() {
    severalThreadsSend(new RingLayout(12, 64, 500), 100_000, 400);
  }

  /** Each thread that has the lock twice in a row owns it. */
  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void severalThreadsPassTheOwnershipOfTheLockAround() {
    RecordLock.Policy policy = new RecordLock.Policy(10, 500, 10_000_000_000L, 2);
    severalThreadsSend(new SharedRings(new RingLayout(12, 64, 500), policy), 20_000, 100);
  }

  private static void severalThreadsSend(RingLayout layout, int each, int longest) {
    severalThreadsSend(new SharedRings(layout), each, longest);
  }

  private static void severalThreadsSend(SharedRings rings, int each, int longest) {
    int threads = 4;
    List<CompletableFuture<Void>> sending = new ArrayList<>();
    for (int thread = 0; thread < threads; thread++) {
      int me = thread;
      sending.add(
          CompletableFuture.runAsync(
              () -> send(rings, me, each, longest), task -> new Thread(task).start()));
    }
    int[] next = new int[threads];
    List<Integer> held = new ArrayList<>();
    Random random = new Random(1);
    for (int received = 0; received < threads * each; ) {
      if (rings.consumer.next()) {
        byte[] message = rings.found();
        int thread = message[0];
        assertThat(message)
            .as("message %d of thread %d", next[thread], thread)
            .isEqualTo(message(thread, next[thread], longest));
        next[thread]++;
        received++;
        int line = rings.take();
        if (line != RingProducer.INLINE) {
          held.add(line);
        }
      } else {
        Thread.yield();
      }
      while (held.size() > random.nextInt(4)) { // in any order
        rings.consumer.release(held.remove(random.nextInt(held.size())));
      }
      failIfOneFailed(sending);
    }
    sending.forEach(CompletableFuture::join);
    assertThat(rings.consumer.next()).isFalse();
    assertThat(rings.producer.messagesPublished()).isEqualTo((long) threads * each);
    assertThat(rings.producer.isAllClaimed(1, ALL)).isFalse();
  }

  private static void failIfOneFailed(List<CompletableFuture<Void>> sending) {
    sending.stream()
        .filter(CompletableFuture::isCompletedExceptionally)
        .forEach(CompletableFuture::join);
  }

  private static void send(SharedRings rings, int thread, int count, int longest) {
    Random random = new Random(thread);
    long last = 0;
    for (int i = 0; i < count; i++) {
      byte[] message = message(thread, i, longest);
      if (random.nextInt(4) == 0) {
        int line = rings.producer.reserve(random.nextInt(longest));
        if (line != FULL) {
          rings.producer.abort(line);
        }
      }
      long id = rings.send(message);
      while (id == 0) {
        Thread.yield();
        id = rings.send(message);
      }
      if (id <= last) {
        throw new AssertionError("id " + id + " after " + last);
      }
      last = id;
    }
  }

  private static byte[] message(int thread, int number, int longest) {
    byte[] message = Rings.message(8 + (number * 31 + thread * 7) % (longest - 8), number + thread);
    message[0] = (byte) thread;
    MemorySegment.ofArray(message).set(ValueLayout.JAVA_INT_UNALIGNED, 4, number);
    return message;
  }

  @Test
  void allIsClaimedOnlyIfTheReceiverHoldsNothingAndEveryClaimIsKnown() {
    SharedRings rings = new SharedRings(SMALL);
    assertThat(rings.producer.isAllClaimed(8, ALL)).as("all is free").isFalse();
    int[] lines = new int[3];
    for (int i = 0; i < 3; i++) {
      lines[i] = rings.producer.reserve(8);
    }
    assertThat(rings.producer.isAllClaimed(8, ALL)).isTrue();
    assertThat(rings.producer.isAllClaimed(8, line -> line != lines[2])).isFalse();

    rings.publish(lines[0], new byte[8]);
    assertThat(rings.producer.isAllClaimed(8, ALL)).as("one is in the ring").isFalse();
    assertThat(rings.consumer.next()).isTrue();
    int held = rings.take();
    assertThat(rings.producer.isAllClaimed(8, ALL)).as("the receiver holds it").isFalse();
    rings.consumer.release(held);
    assertThat(rings.producer.isAllClaimed(8, ALL)).as("there is a record").isFalse();
    rings.producer.reserve(8);
    assertThat(rings.producer.isAllClaimed(8, ALL)).isTrue();

    rings.producer.abort(lines[1]);
    assertThat(rings.producer.isAllClaimed(8, ALL)).isFalse();
  }

  @Test
  void allIsClaimedForAThreadThatLacksLinesToo() {
    SharedRings rings = new SharedRings(SMALL);
    assertThat(rings.producer.reserve(1_900)).isNotEqualTo(FULL);
    int line = rings.producer.reserve(2_000);
    assertThat(line).isNotEqualTo(FULL);
    assertThat(rings.producer.reserve(2_000)).isEqualTo(FULL);
    assertThat(rings.producer.isAllClaimed(2_000, ALL)).isTrue();
    assertThat(rings.producer.isAllClaimed(20, ALL)).as("there are a few lines").isFalse();
    rings.producer.abort(line);
    assertThat(rings.producer.isAllClaimed(2_000, ALL)).isFalse();
  }

  @Test
  void othersAreNotifiedOfRoomThatTheyMayHaveMissed() {
    SharedRings rings = new SharedRings(SMALL);
    rings.producer.abort(rings.producer.reserve(8));
    assertThat(rings.notifiedOfRoom).as("an abort").hasValue(1);

    while (rings.send(new byte[500]) != 0) {
      rings.receive();
      if (rings.notifiedOfRoom.get() > 1) {
        return; // the producer has consumed the released lines
      }
    }
    throw new AssertionError("no thread was notified of the released lines");
  }

  @Test
  void aLateWakeUpDoesNotClearTheFlagOfAnotherSleep() {
    SharedRings rings = new SharedRings(SMALL);
    assertThat(rings.producer.receiverAsleep()).isZero();
    rings.consumer.armSleep(false);
    int first = rings.producer.receiverAsleep();
    assertThat(first).isNotZero();
    assertThat(rings.producer.receiverAsleep())
        .as("the flag stays set until the wake-up")
        .isEqualTo(first);
    rings.consumer.disarmSleep(); // it was woken up, and sleeps again
    rings.consumer.armSleep(false);
    int second = rings.producer.receiverAsleep();
    rings.producer.receiverTold(first);

    assertThat(rings.producer.receiverAsleep()).isEqualTo(second).isNotEqualTo(first);
    rings.producer.receiverTold(second);
    assertThat(rings.producer.receiverAsleep()).isZero();
    assertThat(rings.consumer.isSleepArmed()).isFalse();
  }

  @Test
  void theOrdinarySenderAndOneForSeveralThreadsAreReceivedAlike() {
    RingLayout layout = new RingLayout(11, 100, 1_000);
    Rings ordinary = new Rings(layout, true);
    SharedRings shared = new SharedRings(layout);
    for (int i = 0; i < 100; i++) {
      byte[] message = Rings.message(i * 10, i);
      assertThat(ordinary.send(message)).isTrue();
      assertThat(shared.send(message)).isPositive();
      assertThat(ordinary.receive()).isEqualTo(shared.receive());
    }
  }

  @Test
  void aRingWithoutLinesHasNoRoomForAClaim() {
    assertThat(new SharedRings(new RingLayout(12, 0, 100)).producer.reserve(1)).isEqualTo(FULL);
    assertThatThrownBy(() -> new RingLayout(5, 0, 1)).isInstanceOf(IllegalArgumentException.class);
  }
}
