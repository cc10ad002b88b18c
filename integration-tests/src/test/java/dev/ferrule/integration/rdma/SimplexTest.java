// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionState;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.Sender;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections on which only the client sends, so that there is one ring instead of two. */
@SuppressWarnings("try") // closing early is what is tested
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SimplexTest {

  private static final String SMALL = "?ring=8KiB&window=8&maxMessage=4KiB";
  private static final String SIMPLEX = SMALL + "&simplex=on";

  private static Task<Void> send(Sender sender, int count) {
    return Task.start(() -> {
      for (int i = 0; i < count; i++) {
        Numbered.send(sender, i);
      }
      return null;
    });
  }

  private static void receive(Connection connection, int count) {
    for (int i = 0; i < count; i++) {
      try (ReceiveRegion message = connection.receiver().receive(Task.PATIENCE)) {
        Numbered.check(message, i);
      }
    }
  }

  /** A listener accepts such clients, whether or not it accepts others. */
  @ParameterizedTest
  @ValueSource(strings = {SMALL, SIMPLEX})
  void theClientSendsAndTheServerReceives(String listenQuery) {
    try (Listener listener = Wires.listen("magicring" + listenQuery);
        Wires.Pair pair = Wires.pair(listener, SIMPLEX)) {
      Task<Void> sending = send(pair.client().sender(), 200);
      receive(pair.server(), 200);
      sending.result();

      assertThatThrownBy(() -> pair.client().receiver())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("simplex");
      assertThatThrownBy(() -> pair.server().sender())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("simplex");
      assertThat(pair.client().state()).isEqualTo(ConnectionState.OPEN);
      assertThat(pair.client().counters().messagesSent()).isEqualTo(200);
      assertThat(pair.server().counters().messagesReceived()).isEqualTo(200);
    }
  }

  @Test
  void theRefusalByAListenerThatOnlyReceivesStatesTheFix() {
    try (Listener listener = Wires.listen("magicring" + SIMPLEX)) {
      Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
      assertThatThrownBy(() -> Wires.connect(listener.uri() + SMALL, ""))
          .isInstanceOf(ConnectionRefusedException.class)
          .hasMessageContaining("connect with simplex=on");
      try (Connection client = Wires.connect(listener.uri() + SIMPLEX, "");
          Connection server = accepting.result()) {
        Task<Void> sending = send(client.sender(), 1);
        receive(server, 1);
        sending.result();
      }
    }
  }

  @Test
  void aReceiverThatHoldsMessagesStallsTheSender() {
    try (Wires.Pair pair = Wires.pair("magicring" + SIMPLEX)) {
      Task<Void> sending = send(pair.client().sender(), 8);
      List<ReceiveRegion> held = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        held.add(pair.server().receiver().receive(Task.PATIENCE));
      }
      sending.result();
      assertThat(pair.client().sender().tryClaim(1)).isNull();
      assertThatThrownBy(() -> pair.client().sender().claim(1, Duration.ofMillis(50)))
          .isInstanceOf(OperationTimeoutException.class);
      held.forEach(ReceiveRegion::close);
      pair.client().sender().claim(1, Task.PATIENCE).abort();
    }
  }

  @Test
  void messagesSentBeforeACloseAreReceived() {
    try (Wires.Pair pair = Wires.pair("magicring" + SIMPLEX + "&closeTimeout=120s")) {
      Task<Void> closing =
          Task.start(() -> {
            for (int i = 0; i < 100; i++) {
              Numbered.send(pair.client().sender(), i);
            }
            pair.client().close();
            return null;
          });
      receive(pair.server(), 100);
      closing.result();
      assertThatThrownBy(() -> pair.server().receiver().receive(Task.PATIENCE))
          .isInstanceOf(EndOfStreamException.class);
      assertThat(pair.server().state()).isEqualTo(ConnectionState.CLOSED_BY_PEER);
    }
  }

  @Test
  void theEndIsReportedWhileTheConnectionStaysOpen() {
    try (Wires.Pair pair = Wires.pair("magicring" + SIMPLEX)) {
      Task<Void> sending =
          Task.start(() -> {
            for (int i = 0; i < 100; i++) {
              Numbered.send(pair.client().sender(), i);
            }
            pair.client().sender().close();
            return null;
          });
      receive(pair.server(), 100);
      sending.result();
      assertThatThrownBy(() -> pair.server().receiver().receive(Task.PATIENCE))
          .isInstanceOf(EndOfStreamException.class);
      assertThat(pair.server().state()).isEqualTo(ConnectionState.OPEN);
    }
  }

  @Test
  void aReceiverThatClosesEndsASenderThatWaits() {
    try (Wires.Pair pair = Wires.pair("magicring" + SIMPLEX)) {
      Task<Void> sending = send(pair.client().sender(), Integer.MAX_VALUE);
      Task.await("the sender stalls", () -> pair.client().counters().backPressureStalls() > 0);
      pair.server().close();
      assertThat(sending.failure())
          .isInstanceOfSatisfying(
              ConnectionClosedException.class, e -> assertThat(e.closedByPeer()).isTrue());
    }
  }

  @Test
  void oneReceiverReceivesTheMessagesOfSeveralSenders() {
    int clients = 4;
    int count = 100;
    try (Listener listener = Wires.listen("magicring" + SIMPLEX + "&singleReceiver=on")) {
      List<Wires.Pair> pairs = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        pairs.add(Wires.pair(listener, SIMPLEX));
      }
      List<Task<Void>> sending =
          pairs.stream().map(pair -> send(pair.client().sender(), count)).toList();
      Receiver receiver = listener.receiver();
      Map<Connection, Integer> counts = new HashMap<>();
      for (int i = 0; i < clients * count; i++) {
        try (ReceiveRegion message = receiver.receive(Task.PATIENCE)) {
          Numbered.check(message, counts.merge(message.connection(), 1, Integer::sum) - 1);
        }
      }
      assertThat(counts).hasSize(clients).allSatisfy((client, n) -> assertThat(n).isEqualTo(count));
      sending.forEach(Task::result);
      pairs.forEach(Wires.Pair::close);
    }
  }

  @Test
  void bothSidesTogetherPinOneRingOnly() {
    String large = "?ring=4MiB&maxMessage=64KiB&sendBuffer=256KiB&window=8";
    try (Listener listener = Wires.listen("magicring" + large)) {
      // repeated, as memory of earlier tests may be released between two measurements
      Task.await(
          "a simplex connection pins one ring less, which the device counts twice",
          () ->
              pinned(listener, large, 4) - pinned(listener, large + "&simplex=on", 2) >= 2 * 4096);
    }
  }

  /** Returns the pinned memory in KiB during a connection with a number of mappings of rings. */
  private static long pinned(Listener listener, String query, int mappings) {
    RingMappings rings = new RingMappings();
    long result = pinnedNow(listener, query, mappings, rings);
    rings.awaitUnmapped(); // not in the frame of the connection, which would keep it reachable
    return result;
  }

  private static long pinnedNow(Listener listener, String query, int mappings, RingMappings rings) {
    try (Wires.Pair pair = Wires.pair(listener, query)) {
      assertThat(pair.client().state()).isEqualTo(ConnectionState.OPEN);
      assertThat(rings.added()).hasSize(mappings); // each ring is mapped twice
      return pinnedKilobytes();
    }
  }

  private static long pinnedKilobytes() {
    return lines("/proc/self/status")
        .filter(line -> line.startsWith("VmPin:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
        .sum();
  }

  private static Stream<String> lines(String file) {
    try {
      return Files.readAllLines(Path.of(file)).stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
