// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.SendRegion;
import dev.ferrule.WaitStrategy;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A slow receiver stops its peer by credits, and never by RNR NAKs of the device: with {@code
 * rnrRetry=0} the first of them would end the connection.
 */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CreditsTest {

  /**
   * The pause of tests in which a receiver stops, with {@code peerTimeout=2s}. The pause itself is
   * the test: only it shows that the peer is not considered dead too early.
   */
  static final Duration SEVERAL_PEER_TIMEOUTS = Duration.ofSeconds(6);

  static Stream<Arguments> waysToWaitAndReceives() {
    return Stream.of(WaitStrategy.values())
        .flatMap(wait -> IntStream.of(1, 2, 3, 8, 33).mapToObj(count -> Arguments.of(wait, count)));
  }

  static Task<Void> send(Connection connection, int first, int count) {
    return Task.start(() -> {
      for (int i = 0; i < count; i++) {
        Numbered.send(connection.sender(), first + i);
      }
      return null;
    });
  }

  /** Waits until a sender has stalled. */
  static void awaitStall(Connection connection) {
    Task.await("a sender stalls", () -> connection.counters().backPressureStalls() > 0);
  }

  /** Receives messages with pauses, holds some of them, and frees them in any order. */
  private static Task<Void> receiveSlowly(Connection connection, int count, int receives) {
    return Task.start(() -> {
      Random random = new Random(receives);
      List<ReceiveRegion> held = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        while (held.size() == receives || (!held.isEmpty() && random.nextInt(3) == 0)) {
          held.remove(random.nextInt(held.size())).close();
        }
        ReceiveRegion message = connection.receiver().receive();
        Numbered.check(message, i);
        held.add(message);
        if (random.nextInt(20) == 0) {
          Task.pause(Duration.ofMillis(random.nextInt(5)));
        }
      }
      held.forEach(ReceiveRegion::close);
      return null;
    });
  }

  @ParameterizedTest
  @MethodSource("waysToWaitAndReceives")
  void noMessageIsRefusedWhileBothSidesSendAndAreSlowToReceive(WaitStrategy wait, int receives) {
    int count = 150;
    try (Wires.Pair pair =
        Wires.pair(
            "?rnrRetry=0&maxMessage=4KiB&receives="
                + receives
                + "&wait="
                + wait.name().toLowerCase(Locale.ROOT))) {
      List<Task<Void>> tasks =
          List.of(
              receiveSlowly(pair.client(), count, receives),
              receiveSlowly(pair.server(), count, receives),
              send(pair.client(), 0, count),
              send(pair.server(), 0, count));
      tasks.forEach(Task::result);
    }
  }

  @ParameterizedTest
  @MethodSource("waysToWaitAndReceives")
  void noMessageIsRefusedWhileAReceiverHoldsAllItsBuffers(WaitStrategy wait, int receives) {
    String query =
        "?rnrRetry=0&maxMessage=4KiB&receives="
            + receives
            + "&wait="
            + wait.name().toLowerCase(Locale.ROOT);
    try (Wires.Pair pair = Wires.pair(query)) {
      for (int round = 0; round < 3; round++) {
        int first = round * receives;
        // on another thread, as credit returns while the receiver receives
        Task<Void> sending = send(pair.client(), first, receives);
        List<ReceiveRegion> held = new ArrayList<>();
        for (int i = 0; i < receives; i++) {
          held.add(pair.server().receiver().receive(Task.PATIENCE));
          Numbered.check(held.get(i), first + i);
        }
        sending.result();
        assertThatThrownBy(() -> pair.client().sender().claim(1, Duration.ofMillis(100)))
            .isInstanceOf(OperationTimeoutException.class);

        // even a single freed buffer returns credit
        held.remove(held.size() - 1).close();
        SendRegion room = pair.client().sender().claim(1, Task.PATIENCE);
        room.abort();
        for (int i = held.size() - 1; i >= 0; i--) {
          held.get(i).close();
        }
      }
    }
  }

  @Test
  void noMessageIsRefusedWhileAReceiverStopsForSeconds() {
    int count = 200;
    try (Wires.Pair pair = Wires.pair("?rnrRetry=0&maxMessage=4KiB&receives=8&peerTimeout=2s")) {
      Task<Void> there = send(pair.client(), 0, count);
      Task<Void> back = send(pair.server(), 0, count);
      awaitStall(pair.client());
      awaitStall(pair.server());
      Task.pause(SEVERAL_PEER_TIMEOUTS);
      assertThat(there.isDone() || back.isDone())
          .as("a sender finishes although there is no room")
          .isFalse();
      receiveSlowly(pair.client(), count, 8).result();
      receiveSlowly(pair.server(), count, 8).result();
      there.result();
      back.result();
    }
  }

  /** Shows that the tests above can fail: without credits, a message is refused. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void withoutCreditsAMessageForWhichThereIsNoBufferIsRefused(boolean fromTheClient) {
    try (Wires.Pair pair = Wires.pair("?rnrRetry=0&maxMessage=4KiB&receives=2&credits=off")) {
      Task<Void> sending =
          send(fromTheClient ? pair.client() : pair.server(), 0, Integer.MAX_VALUE);
      assertThat(sending.failure())
          .isInstanceOf(PeerLostException.class)
          .hasMessageContaining("rnrRetry");
    }
  }

  /** One message was sent and freed, too few for the receiver to report that by itself. */
  @Test
  void aSenderCanClaimAllItsCreditBeforeItSends() {
    try (Wires.Pair pair = Wires.pair("?maxMessage=4KiB&receives=8&unacked=64&wait=block")) {
      Numbered.send(pair.client().sender(), 0);
      pair.server().receiver().receive(Task.PATIENCE).close();
      Task<Void> receiving =
          Task.start(() -> {
            for (int n = 1; n <= 8; n++) {
              try (ReceiveRegion message = pair.server().receiver().receive(Task.PATIENCE)) {
                Numbered.check(message, n);
              }
            }
            return null;
          });
      List<SendRegion> claimed = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        claimed.add(pair.client().sender().claim(Numbered.LONGEST, Task.PATIENCE));
      }
      for (int i = 0; i < 8; i++) {
        MemorySegment message = MemorySegment.ofArray(Numbered.message(i + 1));
        MemorySegment.copy(message, 0, claimed.get(i).segment(), 0, message.byteSize());
        claimed.get(i).commit((int) message.byteSize());
      }
      receiving.result();
    }
  }

  /** A sender that only claims sends no message that confirms the grants it has received. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 8, 64})
  void aSenderThatOnlyClaimsGetsAllItsCredit(int receives) {
    int sent = 6 * receives + 16;
    String options = "?maxMessage=4KiB&unacked=128&wait=block&receives=" + receives;
    try (Wires.Pair pair = Wires.pair(options)) {
      Task<Void> sending = send(pair.client(), 0, sent);
      for (int i = 0; i < sent; i++) {
        receive(pair, i);
      }
      sending.result();
      for (int round = 0; round < 3; round++) {
        List<SendRegion> claimed = new ArrayList<>();
        for (int i = 0; i < receives; i++) {
          claimed.add(pair.client().sender().claim(8, Task.PATIENCE));
        }
        claimed.forEach(SendRegion::abort);
      }
    }
  }

  /** The share of this connection grows with use, far beyond the number of claims. */
  @Test
  void aSenderMayClaimAsManyMessagesAsTheSharedReceivesGuarantee() {
    String options = "?maxMessage=4KiB&unacked=256&wait=block&srq=on&receives=1024";
    try (Wires.Pair pair = Wires.pair(options)) {
      List<SendRegion> claimed = new ArrayList<>();
      int first = claimUntilAllIsClaimed(pair, claimed);
      claimed.forEach(SendRegion::abort);
      int sent = 20 * first;
      Task<Void> sending = send(pair.client(), 0, sent);
      for (int i = 0; i < sent; i++) {
        receive(pair, i);
      }
      sending.result();
      for (int round = 0; round < 3; round++) {
        claimed.clear();
        assertThat(claimUntilAllIsClaimed(pair, claimed)).isEqualTo(first);
        claimed.forEach(SendRegion::abort);
      }
    }
  }

  private static int claimUntilAllIsClaimed(Wires.Pair pair, List<SendRegion> claimed) {
    try {
      while (true) {
        claimed.add(pair.client().sender().claim(8, Task.PATIENCE));
      }
    } catch (IllegalStateException e) {
      return claimed.size();
    }
  }

  /**
   * Each of the first rounds is too small for an immediate grant, and is granted after a delay. The
   * number of unconfirmed grants is limited, and their confirmation is in messages that the
   * receiver does not poll: one thread drives both sides here.
   */
  @Test
  void allFreedBuffersAreGrantedAlthoughTheReceiverNeverPollsAgain() {
    int receives = 8;
    try (Wires.Pair pair = Wires.pair("?maxMessage=4KiB&wait=block&receives=" + receives)) {
      int sent = 0;
      for (int grants = 1; grants <= 2; grants++) {
        sent = passOn(pair, sent, 2);
        int wanted = grants;
        Task.await(
            "the freed buffers are granted",
            () -> pair.server().counters().acknowledgments() >= wanted);
      }
      sent = passOn(pair, sent, receives - sent);

      send(pair.client(), sent, receives).result();

      for (int i = 0; i < receives; i++) {
        receive(pair, sent + i);
      }
    }
  }

  private static int passOn(Wires.Pair pair, int first, int count) {
    for (int i = first; i < first + count; i++) {
      Numbered.send(pair.client().sender(), i);
      receive(pair, i);
    }
    return first + count;
  }

  private static void receive(Wires.Pair pair, int number) {
    try (ReceiveRegion message = pair.server().receiver().receive(Task.PATIENCE)) {
      Numbered.check(message, number);
    }
  }
}
