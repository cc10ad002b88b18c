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
import dev.ferrule.PeerLostException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.WaitStrategy;
import dev.ferrule.contract.SystemResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a program sees of a peer on the same host that is killed, stopped, or closes. */
@SuppressWarnings("try") // closing early is what is tested
@RdmaTest
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PeerFaultsTest {

  private static final String SMALL = "?receives=8&maxMessage=4KiB";

  // Code 20 is 10 ms: a peer that is asked again every 0.64 ms by several connections is busy.
  private static final String UNCREDITED = SMALL + "&credits=off&minRnrTimer=20";

  /** A noticed death takes milliseconds; this is for a machine that has other things to do. */
  private static final Duration BOUND = Duration.ofSeconds(10);

  /** What is open, without the pipes to the other process, which Java closes when it ends. */
  private static List<String> descriptors() {
    return SystemResources.openDescriptors().stream()
        .filter(target -> !target.startsWith("pipe:") && !target.startsWith("closed"))
        .toList();
  }

  private static void sendForEver(Connection connection) {
    for (int i = 0; i >= 0; i++) {
      Numbered.send(connection.sender(), i);
    }
  }

  @Test
  void aKilledPeerEndsWhateverWaitsForItAndLeavesNothingBehind() {
    try (OtherProcess other = OtherProcess.start(SMALL, UNCREDITED)) {
      String credited = other.line() + SMALL;
      String uncredited = other.line() + UNCREDITED;
      Wires.connect(credited, Peer.IDLE).close(); // opens what a process opens once
      List<String> before = descriptors();

      List<Connection> connections = new ArrayList<>();
      Map<String, Task<Void>> waiting = new LinkedHashMap<>();
      for (WaitStrategy strategy : WaitStrategy.values()) {
        String wait = "&wait=" + strategy.name().toLowerCase(Locale.ROOT);
        Connection receiving = Wires.connect(credited + wait, Peer.IDLE);
        waiting.put(
            "receive, " + strategy,
            Task.start(
                () -> {
                  receiving.receiver().receive();
                  return null;
                }));
        Connection sending = Wires.connect(credited + wait, Peer.IDLE);
        waiting.put(
            "send without credit, " + strategy,
            Task.start(
                () -> {
                  sendForEver(sending);
                  return null;
                }));
        Connection awaiting = Wires.connect(uncredited + wait, Peer.IDLE);
        waiting.put(
            "await, " + strategy,
            Task.start(
                () -> {
                  long last = 0;
                  for (int i = 0; i < 30; i++) { // more than the peer has posted receives
                    last = Numbered.send(awaiting.sender(), i);
                  }
                  awaiting.sender().await(last);
                  return null;
                }));
        connections.addAll(List.of(receiving, sending, awaiting));
        Task.await("the sender lacks credit", () -> sending.counters().backPressureStalls() > 0);
        Task.await("all messages are on their way", () -> awaiting.counters().messagesSent() == 30);
      }
      Task.pause(Duration.ofMillis(300)); // for the threads to get where they wait
      waiting.forEach((what, task) -> assertThat(task.isDone()).as(what).isFalse());
      other.kill();

      waiting.forEach(
          (what, task) ->
              assertThat(task.failure(BOUND))
                  .as(what)
                  .isInstanceOf(PeerLostException.class)
                  .hasMessageContaining("process has ended"));
      for (Connection connection : connections) {
        assertThat(connection.state()).isEqualTo(ConnectionState.FAILED);
        assertThat(connection.failure()).isInstanceOf(PeerLostException.class);
        assertThatThrownBy(() -> connection.sender().tryClaim(1))
            .isInstanceOf(PeerLostException.class);
        connection.close();
      }
      Task.await(
          "the descriptors are as before; before " + before + ", now " + descriptors(),
          () -> descriptors().equals(before));
    }
  }

  @Test
  void aStoppedPeerIsBackPressureAndNoError() {
    int count = 300;
    try (OtherProcess other = OtherProcess.start(SMALL);
        Connection connection =
            Wires.connect(other.line() + SMALL + "&peerTimeout=400ms", Peer.COUNT)) {
      Numbered.send(connection.sender(), 0);
      connection.sender().await(1);
      other.stop();
      Task<Void> sending =
          Task.start(
              () -> {
                for (int i = 1; i < count; i++) {
                  Numbered.send(connection.sender(), i);
                }
                return null;
              });
      Task.await("the sender has to wait", () -> connection.counters().backPressureStalls() > 0);

      // several times the peer timeout, which is for hosts that do not answer
      assertThatThrownBy(() -> connection.receiver().receive(Duration.ofSeconds(2)))
          .isInstanceOf(OperationTimeoutException.class);
      assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
      assertThat(sending.isDone()).isFalse();
      other.resume();

      sending.result();
      connection.close();
      assertThat(other.line()).isEqualTo("counted " + count);
    }
  }

  @Test
  void anOrderlyCloseDeliversWhatWasSentBeforeItInBothDirections() {
    int count = 200;
    try (OtherProcess other = OtherProcess.start(SMALL)) {
      String address = other.line() + SMALL;
      try (Connection sender = Wires.connect(address, Peer.COUNT)) {
        for (int i = 0; i < count; i++) {
          Numbered.send(sender.sender(), i);
        }
      }
      assertThat(other.line()).isEqualTo("counted " + count);

      try (Connection receiver = Wires.connect(address, Peer.FLOOD + " " + count)) {
        for (int i = 0; i < count; i++) {
          if (i == count - 5) {
            // the peer closes with its last messages still in our buffers
            Task.await("the peer closes", () -> receiver.state() != ConnectionState.OPEN);
          }
          try (ReceiveRegion message = receiver.receiver().receive()) {
            Numbered.check(message, i);
          }
        }
        assertThatThrownBy(() -> receiver.receiver().receive())
            .isInstanceOfSatisfying(
                ConnectionClosedException.class, e -> assertThat(e.closedByPeer()).isTrue());
        assertThat(receiver.state()).isEqualTo(ConnectionState.CLOSED_BY_PEER);
      }

      // and without a close, what was sent comes too, but the end is another
      try (Connection receiver = Wires.connect(address, Peer.EXIT + " 7")) {
        assertThat(other.exitCode()).isZero();
        for (int i = 0; i < 7; i++) {
          try (ReceiveRegion message = receiver.receiver().receive()) {
            Numbered.check(message, i);
          }
        }
        assertThatThrownBy(() -> receiver.receiver().receive())
            .isInstanceOf(PeerLostException.class);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aListenerThatIsClosedRefusesThoseWhoConnect(boolean accepting) {
    for (int round = 0; round < 5; round++) {
      Listener listener = Wires.listen(SMALL);
      String address = listener.uri() + SMALL;
      List<Connection> accepted = new ArrayList<>();
      Task<Void> server =
          Task.start(
              () -> {
                while (accepting) {
                  accepted.add(listener.accept());
                }
                return null;
              });
      List<Task<Connection>> clients = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        clients.add(Task.start(() -> Wires.connect(address, "")));
      }
      Task.pause(Duration.ofMillis(3L * round)); // so that each time it is another moment
      listener.close();

      List<Connection> connected = new ArrayList<>();
      for (Task<Connection> client : clients) {
        try {
          connected.add(client.result());
        } catch (AssertionError e) {
          assertThat(e.getCause()).isInstanceOf(ConnectionRefusedException.class);
        }
      }
      if (accepting) {
        assertThat(server.failure(BOUND)).isInstanceOf(ConnectionClosedException.class);
      }
      assertThat(connected).as("connections of clients").hasSameSizeAs(accepted);
      for (Connection connection : connected) {
        Numbered.send(connection.sender(), 1);
        connection.close();
      }
      accepted.forEach(Connection::close);
    }
  }
}
