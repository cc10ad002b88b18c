// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionState;
import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.Sender;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections on which only the client sends, so that there is one ring instead of two. */
@SuppressWarnings("try") // closing early is what is tested
@RdmaTest
@Timeout(value = 180, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SimplexTest {

  private static final String SMALL = "?ring=8KiB&window=8&maxMessage=4KiB";
  private static final String SIMPLEX = SMALL + "&simplex=on";

  private static Task<Void> send(Sender sender, int count) {
    return Task.start(
        () -> {
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
  void aListenerThatOnlyReceivesRefusesOthersWithTheFix() {
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
    try (Wires.Pair pair = Wires.pair("magicring" + SIMPLEX)) {
      Task<Void> closing =
          Task.start(
              () -> {
                for (int i = 0; i < 100; i++) {
                  Numbered.send(pair.client().sender(), i);
                }
                pair.client().close();
                return null;
              });
      receive(pair.server(), 100);
      closing.result();
      assertThatThrownBy(() -> pair.server().receiver().receive(Task.PATIENCE))
          .isInstanceOfSatisfying(
              ConnectionClosedException.class, e -> assertThat(e.closedByPeer()).isTrue());
      assertThat(pair.server().state()).isEqualTo(ConnectionState.CLOSED_BY_PEER);
    }
  }

  @Test
  void aReceiverThatClosesEndsASenderThatWaits() {
    try (Wires.Pair pair = Wires.pair("magicring" + SIMPLEX)) {
      Task<Void> sending = send(pair.client().sender(), Integer.MAX_VALUE);
      Task.await("the sender stalls", () -> pair.client().counters().backPressureStalls() > 0);
      pair.server().close();
      assertThat(sending.failure(Task.PATIENCE))
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
  void theSidesHaveOneRingAndItsPinnedMemoryOnly() throws IOException {
    String large = "?ring=4MiB&maxMessage=64KiB&buffer=256KiB&window=8";
    try (Listener listener = Wires.listen("magicring" + large)) {
      long before = ringMappings(); // of other tests' open connections
      long none = pinnedKilobytes();
      long duplex;
      try (Wires.Pair pair = Wires.pair(listener, large)) {
        assertThat(ringMappings() - before).isEqualTo(4); // two rings, each mapped twice
        duplex = pinnedKilobytes() - none;
      }
      try (Wires.Pair pair = Wires.pair(listener, large + "&simplex=on")) {
        assertThat(ringMappings() - before).isEqualTo(2);
        // a ring twice, as the device counts, except for pages freed meanwhile by earlier tests
        assertThat(duplex - (pinnedKilobytes() - none)).isGreaterThan(2 * 4096 - 512);
      }
      assertThat(ringMappings()).isEqualTo(before);
    }
  }

  private static long ringMappings() throws IOException {
    try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains("ferrule-ring")).count();
    }
  }

  private static long pinnedKilobytes() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("VmPin:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
        .sum();
  }
}
