// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.MessageTooLongException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.magicring.ring.Mapping;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Rings that are always full: no message is lost, duplicated or overwritten, and no thread waits
 * forever, for any sizes and any order of claims, sends and frees.
 */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RingPressureTest {

  private static final int PAGE = 4096;

  /**
   * The messages in each direction of each ring; more with the property of the contract's tests.
   */
  private static final int MESSAGES =
      Math.max(100, Integer.getInteger("ferrule.contract.messages", 1000) / 5);

  static Stream<Arguments> rings() {
    return Stream.of(Mapping.values())
        .flatMap(mapping ->
            IntStream.of(1, 3, 33)
                .boxed()
                .flatMap(pages ->
                    IntStream.of(1, 2, 7, 64)
                        .mapToObj(window -> Arguments.of(mapping, pages, window))));
  }

  private static int longest(Mapping mapping, int pages) {
    return mapping.longest((long) pages * PAGE);
  }

  private static Wires.Pair pair(Mapping mapping, int pages, int window) {
    return Wires.pair(
        "magicring?wait=block&ring=%d&window=%d&mapping=%s&maxMessage=%d"
            .formatted(
                (long) pages * PAGE,
                window,
                mapping.name().toLowerCase(Locale.ROOT),
                longest(mapping, pages)));
  }

  @ParameterizedTest
  @MethodSource("rings")
  void everyMessageArrivesAsSentInBothDirectionsAtOnce(Mapping mapping, int pages, int window) {
    int longest = longest(mapping, pages);
    RandomTraffic there = new RandomTraffic(MESSAGES, longest, 31L * pages + window);
    RandomTraffic back = new RandomTraffic(MESSAGES, longest, 37L * pages + window);
    try (Wires.Pair pair = pair(mapping, pages, window)) {
      List<Task<Void>> tasks =
          List.of(
              there.send(pair.client().sender()),
              there.receive(pair.server().receiver()),
              back.send(pair.server().sender()),
              back.receive(pair.client().receiver()));
      tasks.forEach(Task::result);
      assertThat(pair.client().counters().messagesReceived()).isEqualTo(MESSAGES);
      assertThat(pair.server().counters().messagesReceived()).isEqualTo(MESSAGES);
    }
  }

  private static MemorySegment message(int number, int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (number + i * 7);
    }
    return MemorySegment.ofArray(bytes);
  }

  private static void expect(Connection connection, int number, int length) {
    try (ReceiveRegion message = connection.receiver().receive(Task.PATIENCE)) {
      assertThat(message.length()).isEqualTo(length);
      assertThat(message.segment().mismatch(message(number, length))).isEqualTo(-1);
    }
  }

  /**
   * The longest message starts 8 bytes further on each time, so that the ring's end lies at every
   * possible offset in it.
   */
  @ParameterizedTest
  @CsvSource({"MAGIC, 1", "MAGIC, 3", "PLAIN, 1", "PLAIN, 3"})
  void theLongestMessageFitsWhereverItStarts(Mapping mapping, int pages) {
    int longest = longest(mapping, pages);
    try (Wires.Pair pair = pair(mapping, pages, 8)) {
      assertThat(pair.client().sender().maxMessage()).isEqualTo(longest);
      assertThatThrownBy(() -> pair.client().sender().claim(longest + 1))
          .isInstanceOf(MessageTooLongException.class);
      Task<Void> sending =
          Task.start(() -> {
            for (int i = 0; i < 100; i++) {
              pair.client().sender().send(message(i, 5));
              pair.client().sender().send(message(i, longest));
              pair.client().sender().send(message(i, 0));
            }
            return null;
          });
      for (int i = 0; i < 100; i++) {
        expect(pair.server(), i, 5);
        expect(pair.server(), i, longest);
        expect(pair.server(), i, 0);
      }
      sending.result();
    }
  }

  @Test
  void freedSpaceIsAvailableAlthoughTheReceiverNeverPollsAgain() {
    try (Wires.Pair pair = pair(Mapping.MAGIC, 1, 64)) {
      for (int i = 0; i < 10; i++) { // too few for an immediate acknowledgment
        pair.client().sender().send(message(i, 8));
        expect(pair.server(), i, 8);
      }
      List<SendRegion> all = claimAll(pair.client().sender(), 8);
      assertThat(all.size()).isGreaterThanOrEqualTo(54);
      all.forEach(SendRegion::commit);
      for (int i = all.size(); i < 64; i++) {
        pair.client().sender().claim(8, Task.PATIENCE).commit();
      }
    }
  }

  @Test
  void anEmptyMessageWaitsForSpaceLikeAnyOther() {
    try (Wires.Pair pair = pair(Mapping.MAGIC, 1, 8)) {
      Sender sender = pair.client().sender();
      sender.send(message(0, PAGE));
      try (ReceiveRegion all = pair.server().receiver().receive(Task.PATIENCE)) {
        assertThat(sender.tryClaim(0)).isNull();
        assertThatThrownBy(() -> pair.server().receiver().tryReceive())
            .isInstanceOf(IllegalStateException.class);
        assertThat(all.segment().mismatch(message(0, PAGE))).isEqualTo(-1);
      }
      sender.send(message(1, 0));
      expect(pair.server(), 1, 0);
    }
  }

  @Test
  void aReceiverThatHoldsTheSpaceThatTheSenderWaitsForGetsAnError() {
    try (Wires.Pair pair = pair(Mapping.MAGIC, 1, 8)) {
      pair.client().sender().send(message(0, PAGE));
      ReceiveRegion all = pair.server().receiver().receive(Task.PATIENCE);
      Task<ReceiveRegion> receiving = Task.start(() -> pair.server().receiver().receive());
      Task<Long> sending = Task.start(() -> pair.client().sender().send(message(1, 1)));
      assertThat(receiving.failure())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("free some");
      all.close();
      assertThat(sending.result()).isEqualTo(2);
      expect(pair.server(), 1, 1);
    }
  }

  private static List<SendRegion> claimAll(Sender sender, int length) {
    List<SendRegion> claimed = new ArrayList<>();
    for (SendRegion next = sender.tryClaim(length); next != null; next = sender.tryClaim(length)) {
      claimed.add(next);
    }
    return claimed;
  }

  @ParameterizedTest
  @CsvSource({
    "MAGIC, 3, 64, 1000", "MAGIC, 3, 7, 1000", "MAGIC, 1, 64, 4096", "MAGIC, 33, 2, 0",
    "PLAIN, 3, 64, 1000", "PLAIN, 3, 7, 1000", "PLAIN, 1, 64, 2048", "PLAIN, 33, 2, 0",
  })
  void aSenderThatClaimsEverythingGetsAnErrorAndCanSendInReverseOrder(
      Mapping mapping, int pages, int window, int length) {
    try (Wires.Pair pair = pair(mapping, pages, window)) {
      Sender sender = pair.client().sender();
      int number = 0;
      for (int round = 0; round < 5; round++) {
        List<SendRegion> claimed = new ArrayList<>();
        assertThatThrownBy(
                () -> {
                  // waits until the peer has acknowledged all freed messages
                  while (true) {
                    claimed.add(sender.claim(length, Task.PATIENCE));
                  }
                })
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("claimed by this program");
        assertThat(claimed).isNotEmpty();
        assertThat(sender.tryClaim(length)).isNull();
        int first = number;
        for (int i = claimed.size() - 1; i >= 0; i--) {
          SendRegion region = claimed.get(i);
          MemorySegment.copy(message(number, length), 0, region.buffer(), region.offset(), length);
          region.commit();
          number++;
        }
        for (int i = first; i < number; i++) {
          expect(pair.server(), i, length);
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"MAGIC, 3", "PLAIN, 3"})
  void abortedClaimsMakeSpaceForTheLongest(Mapping mapping, int pages) {
    int longest = longest(mapping, pages);
    try (Wires.Pair pair = pair(mapping, pages, 64)) {
      for (int i = 0; i < 20; i++) {
        pair.client().sender().send(message(i, 40));
        expect(pair.server(), i, 40);
        SendRegion first =
            pair.client().sender().claim(300, Task.PATIENCE); // further ones may not fit yet
        claimAll(pair.client().sender(), 300).forEach(SendRegion::abort);
        first.abort();
        SendRegion large = pair.client().sender().claim(longest, Task.PATIENCE);
        large.segment().set(ValueLayout.JAVA_BYTE, longest - 1L, (byte) i);
        large.commit();
        try (ReceiveRegion message = pair.server().receiver().receive(Task.PATIENCE)) {
          assertThat(message.segment().get(ValueLayout.JAVA_BYTE, longest - 1L))
              .isEqualTo((byte) i);
        }
      }
    }
  }

  /** From the receiver's point of view, the sender has much more space. */
  @Test
  void aClaimGetsFreedSpaceThatTheReceiverHadNotAcknowledged() {
    try (Wires.Pair pair = Wires.pair("magicring?wait=block&ring=64KiB&maxMessage=4KiB")) {
      for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 4; i++) {
          pair.client().sender().send(message(i, 1000));
          expect(pair.server(), i, 1000);
        }
        List<SendRegion> claimed = claimAll(pair.client().sender(), PAGE);
        assertThat(claimed).hasSizeLessThanOrEqualTo(16); // depends on what was acknowledged by now
        Task<Void> receiving =
            Task.start(() -> {
              for (int i = 0; i < 16; i++) {
                expect(pair.server(), i, PAGE);
              }
              return null;
            });
        while (claimed.size() < 16) {
          claimed.add(pair.client().sender().claim(PAGE, Task.PATIENCE));
        }
        for (int i = 0; i < 16; i++) {
          SendRegion region = claimed.get(15 - i);
          region.segment().copyFrom(message(i, PAGE));
          region.commit();
        }
        receiving.result();
      }
    }
  }

  @Test
  void aClaimGetsSpaceThatIsFreedWhileItWaits() {
    try (Wires.Pair pair = Wires.pair("magicring?wait=block&ring=64KiB&maxMessage=4KiB")) {
      Sender sender = pair.client().sender();
      for (int round = 0; round < 10; round++) {
        sender.send(message(round, PAGE));
        ReceiveRegion held = pair.server().receiver().receive(Task.PATIENCE);
        List<SendRegion> claimed = claimAll(sender, PAGE);
        long stalls = pair.client().counters().backPressureStalls();
        Task<SendRegion> waiting = Task.start(() -> sender.claim(PAGE, Task.PATIENCE));
        Task.await(
            "the claim stalls",
            () -> {
              // the receiver must poll to receive the peer's want
              assertThat(pair.server().receiver().tryReceive()).isNull();
              return pair.client().counters().backPressureStalls() > stalls;
            });
        assertThat(waiting.isDone()).isFalse();
        held.close();
        Task.await(
            "the claim succeeds",
            () -> {
              assertThat(pair.server().receiver().tryReceive()).isNull();
              return waiting.isDone();
            });
        claimed.add(waiting.result());
        claimed.forEach(SendRegion::abort);
      }
    }
  }
}
