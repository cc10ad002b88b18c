// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionState;
import dev.ferrule.Listener;
import dev.ferrule.WaitStrategy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Faults of a peer over sendrecv, and of a listener. */
@RdmaTest
class SendRecvPeerFaultsTest extends PeerFaults {

  private static final String OPTIONS = "?receives=8&maxMessage=4KiB";

  // minRnrTimer=20 is 10 ms: with the default, 0.64 ms, the retries of several connections would
  // keep
  // the peer busy. With retries=7, soft-RoCE retries forever: on a busy machine, a finite number
  // could end a connection whose peer is alive.
  private static final String UNCREDITED = OPTIONS + "&credits=off&minRnrTimer=20&retries=7";

  SendRecvPeerFaultsTest() {
    super("sendrecv", OPTIONS);
  }

  @Test
  void aKilledPeerEndsEveryWaitForItAndLeavesNothingBehind() {
    aKilledPeerEndsEveryWait("", true);
  }

  @Test
  void aKilledPeerIsReplacedByOneAtTheSamePort() {
    aKilledPeerIsReplaced();
  }

  @Test
  void aKilledPeerEndsTheWaitForAnAcknowledgment() {
    int count = 30; // more than the peer's posted receives
    try (OtherProcess other = OtherProcess.start(UNCREDITED)) {
      String address = other.line() + UNCREDITED;
      List<Connection> connections = new ArrayList<>();
      Map<String, Task<Void>> waiting = new LinkedHashMap<>();
      for (WaitStrategy strategy : WaitStrategy.values()) {
        String wait = "&wait=" + strategy.name().toLowerCase(Locale.ROOT);
        Connection connection = Wires.connect(address + wait, Peer.IDLE);
        connections.add(connection);
        waiting.put(
            strategy.toString(),
            Task.start(() -> {
              long last = 0;
              for (int i = 0; i < count; i++) {
                last = Numbered.send(connection.sender(), i);
              }
              connection.sender().await(last);
              return null;
            }));
        Task.await(
            "all messages are in flight", () -> connection.counters().messagesSent() == count);
      }
      waiting.forEach((what, task) -> task.awaitWaiting(what));
      other.kill();

      waiting.forEach(PeerFaults::expectLost);
      connections.forEach(Connection::close);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aClosedListenerRefusesClients(boolean accepting) {
    for (int round = 0; round < 5; round++) {
      Listener listener = Wires.listen(OPTIONS);
      String address = listener.uri() + OPTIONS;
      List<Connection> accepted = new ArrayList<>();
      AtomicInteger count = new AtomicInteger();
      Task<Void> server =
          Task.start(() -> {
            while (accepting) {
              accepted.add(listener.accept());
              count.incrementAndGet();
            }
            return null;
          });
      List<Task<Connection>> clients = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        clients.add(Task.start(() -> Wires.connect(address, "")));
      }
      int some = accepting ? round : 0; // closes at a different moment each time
      Task.await("enough clients are accepted", () -> count.get() >= some);
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
        assertThat(server.failure()).isInstanceOf(ConnectionClosedException.class);
      }
      // clients that were connected, but not yet returned to a program, are disconnected
      Task.await("only the accepted connections remain", () -> open(connected) == accepted.size());
      for (Connection connection : connected) {
        if (connection.state() == ConnectionState.OPEN) {
          Numbered.send(connection.sender(), 1);
        } else {
          assertThat(connection.state()).isEqualTo(ConnectionState.CLOSED_BY_PEER);
        }
        connection.close();
      }
      accepted.forEach(Connection::close);
    }
  }

  private static long open(List<Connection> connections) {
    return connections.stream().filter(each -> each.state() == ConnectionState.OPEN).count();
  }
}
