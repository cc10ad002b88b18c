// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.WaitStrategy;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The tests of {@link CreditsTest} for the window and the ring of magicring. */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RingCreditsTest {

  static Stream<Arguments> waysToWaitAndWindows() {
    return CreditsTest.waysToWaitAndReceives();
  }

  private static String query(WaitStrategy wait, int window) {
    return "magicring?rnrRetry=0&maxMessage=1KiB&ring=64KiB&window="
        + window
        + "&wait="
        + wait.name().toLowerCase(Locale.ROOT);
  }

  @ParameterizedTest
  @MethodSource("waysToWaitAndWindows")
  void noMessageIsRefusedWhileBothSidesSendAndAreSlowToReceive(WaitStrategy wait, int window) {
    int count = 150;
    try (Wires.Pair pair = Wires.pair(query(wait, window))) {
      RandomTraffic there = new RandomTraffic(count, Numbered.LONGEST, window);
      RandomTraffic back = new RandomTraffic(count, Numbered.LONGEST, -window);
      List<Task<Void>> tasks =
          List.of(
              there.send(pair.client().sender()),
              there.receive(pair.server().receiver()),
              back.send(pair.server().sender()),
              back.receive(pair.client().receiver()));
      tasks.forEach(Task::result);
    }
  }

  @ParameterizedTest
  @MethodSource("waysToWaitAndWindows")
  void noMessageIsRefusedWhileAReceiverHoldsTheWholeWindow(WaitStrategy wait, int window) {
    try (Wires.Pair pair = Wires.pair(query(wait, window))) {
      for (int round = 0; round < 3; round++) {
        int first = round * window;
        // on another thread, as buffer space returns while the receiver receives
        Task<Void> sending = CreditsTest.send(pair.client(), first, window);
        List<ReceiveRegion> held = new ArrayList<>();
        for (int i = 0; i < window; i++) {
          held.add(pair.server().receiver().receive(Task.PATIENCE));
          Numbered.check(held.get(i), first + i);
        }
        sending.result();
        long stalls = pair.client().counters().backPressureStalls();
        assertThatThrownBy(() -> pair.client().sender().claim(1, Duration.ofMillis(100)))
            .isInstanceOf(OperationTimeoutException.class);
        assertThat(pair.client().counters().backPressureStalls()).isGreaterThan(stalls);
        if (window > 1) {
          held.remove(held.size() - 1).close(); // frees no space, as it is not the oldest
          assertThatThrownBy(() -> pair.client().sender().claim(1, Duration.ofMillis(20)))
              .isInstanceOf(OperationTimeoutException.class);
        }
        held.remove(0).close();
        pair.client().sender().claim(1, Task.PATIENCE).abort();
        for (int i = held.size() - 1; i >= 0; i--) {
          held.get(i).close();
        }
      }
    }
  }

  @Test
  void noMessageIsRefusedWhileAReceiverStopsForSeconds() {
    int count = 200;
    try (Wires.Pair pair =
        Wires.pair("magicring?rnrRetry=0&maxMessage=4KiB&ring=8KiB&window=8&peerTimeout=2s")) {
      RandomTraffic forth = new RandomTraffic(count, 4096, 1);
      RandomTraffic back = new RandomTraffic(count, 4096, 2);
      List<Task<Void>> sending =
          List.of(forth.send(pair.client().sender()), back.send(pair.server().sender()));
      CreditsTest.awaitStall(pair.client());
      CreditsTest.awaitStall(pair.server());
      Task.pause(CreditsTest.SEVERAL_PEER_TIMEOUTS);
      assertThat(sending)
          .as("senders that finish although there is no room")
          .noneMatch(Task::isDone);
      Task<Void> receiving = back.receive(pair.client().receiver());
      forth.receive(pair.server().receiver()).result();
      receiving.result();
      sending.forEach(Task::result);
    }
  }

  /** Each message has an acknowledgment of its own, which could lack a receive as well. */
  @ParameterizedTest
  @ValueSource(strings = {"window=2", "window=64&acknowledge=each"})
  void noAcknowledgmentOfEmptyMessagesInBothDirectionsIsRefused(String option) {
    int count = 3000;
    try (Wires.Pair pair =
        Wires.pair("magicring?rnrRetry=0&maxMessage=64&ring=4KiB&wait=block&" + option)) {
      List<Task<Void>> tasks =
          Stream.of(pair.client(), pair.server())
              .flatMap(connection ->
                  Stream.of(
                      Task.<Void>start(() -> {
                        for (int i = 0; i < count; i++) {
                          connection.sender().send(MemorySegment.NULL);
                        }
                        return null;
                      }),
                      Task.<Void>start(() -> {
                        for (int i = 0; i < count; i++) {
                          connection.receiver().receive(Task.PATIENCE).close();
                        }
                        return null;
                      })))
              .toList();
      tasks.forEach(Task::result);
    }
  }

  /**
   * Four messages: while eight acknowledgments are in flight, a later one covers all that is freed
   * meanwhile.
   */
  @Test
  void eachFreedMessageIsAcknowledgedIfTheReceiverSoChooses() {
    int count = 4;
    try (Wires.Pair pair = Wires.pair("magicring?acknowledge=each")) {
      List<ReceiveRegion> received = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        Numbered.send(pair.client().sender(), i);
        received.add(pair.server().receiver().receive(Task.PATIENCE));
      }
      received.forEach(ReceiveRegion::close);
      assertThat(pair.server().counters().acknowledgments()).isEqualTo(count);
    }
  }
}
