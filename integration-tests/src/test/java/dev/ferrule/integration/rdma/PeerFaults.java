// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionState;
import dev.ferrule.EndOfStreamException;
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

/**
 * What a program observes when its peer is killed, is stopped, or exits, over each RDMA provider.
 */
@SuppressWarnings("try") // closing early is what is tested
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class PeerFaults {

  /** A JVM that has just started may accept its first client late. */
  private static final String PATIENT = "&connectTimeout=120s";

  private final String scheme;
  private final String options;

  /**
   * Creates the tests.
   *
   * @param scheme the provider's scheme
   * @param options the options of both sides, such as {@code ?window=8}
   */
  PeerFaults(String scheme, String options) {
    this.scheme = scheme;
    this.options = options;
  }

  private OtherProcess start(String more) {
    return OtherProcess.start(scheme + options + more + PATIENT);
  }

  /**
   * Returns the open descriptors, without the pipes to the other process, which Java closes when it
   * ends.
   */
  private static List<String> descriptors() {
    return SystemResources.openDescriptors().stream()
        .filter(target -> !target.startsWith("pipe:") && !target.startsWith("closed"))
        .toList();
  }

  private static Task<Void> sendUntilFailure(Connection connection) {
    return Task.start(() -> {
      for (int i = 0; i >= 0; i++) {
        Numbered.send(connection.sender(), i);
      }
      return null;
    });
  }

  private static Task<Void> receiveOne(Connection connection) {
    return Task.start(() -> {
      connection.receiver().receive();
      return null;
    });
  }

  /** Kills a peer while threads wait for it in every way. */
  final void aKilledPeerEndsEveryWait(String more, boolean receives) {
    try (OtherProcess other = start(more)) {
      String address = other.line() + options + more;
      Wires.connect(address, Peer.IDLE).close(); // opens the descriptors that a process opens once
      List<String> before = descriptors();

      List<Connection> connections = new ArrayList<>();
      Map<String, Task<Void>> waiting = new LinkedHashMap<>();
      for (WaitStrategy strategy : WaitStrategy.values()) {
        String wait = "&wait=" + strategy.name().toLowerCase(Locale.ROOT);
        if (receives) {
          Connection receiving = Wires.connect(address + wait, Peer.IDLE);
          waiting.put("receive, " + strategy, receiveOne(receiving));
          connections.add(receiving);
        }
        Connection sending = Wires.connect(address + wait, Peer.IDLE);
        waiting.put("send without room, " + strategy, sendUntilFailure(sending));
        Task.await("the sender stalls", () -> sending.counters().backPressureStalls() > 0);
        connections.add(sending);
      }
      waiting.forEach((what, task) -> task.awaitWaiting(what));
      other.kill();

      waiting.forEach(PeerFaults::expectLost);
      for (Connection connection : connections) {
        assertThat(connection.state()).isEqualTo(ConnectionState.FAILED);
        assertThat(connection.failure()).isInstanceOf(PeerLostException.class);
        assertThatThrownBy(() -> connection.sender().tryClaim(1))
            .isInstanceOf(PeerLostException.class);
        connection.close();
      }
      Task.await(
          () -> "no descriptor has leaked; before " + before + ", now " + descriptors(),
          () -> descriptors().size() <= before.size());
    }
  }

  static void expectLost(String what, Task<Void> task) {
    assertThat(task.failure())
        .as(what)
        .isInstanceOf(PeerLostException.class)
        .hasMessageContaining("process ended");
  }

  /**
   * One provider suffices: this does not depend on the message format, and starts a further JVM.
   */
  final void aKilledPeerIsReplaced() {
    try (OtherProcess first = start("")) {
      String address = first.line();
      try (Connection old = Wires.connect(address + options, Peer.ECHO)) {
        Numbered.send(old.sender(), 0);
        old.receiver().receive(Task.PATIENCE).close();
        first.kill();
        assertThat(receiveOne(old).failure()).isInstanceOf(PeerLostException.class);
        expectAnotherAt(address, old);
      }
    }
  }

  private void expectAnotherAt(String address, Connection old) {
    try (OtherProcess other = OtherProcess.start(address + options + PATIENT)) {
      assertThat(other.line()).isEqualTo(address);
      try (Connection connection = Wires.connect(address + options, Peer.ECHO)) {
        for (int i = 0; i < 50; i++) {
          Numbered.send(connection.sender(), i);
          try (ReceiveRegion message = connection.receiver().receive(Task.PATIENCE)) {
            Numbered.check(message, i);
          }
        }
      }
      assertThat(old.state()).isEqualTo(ConnectionState.FAILED);
      assertThatThrownBy(() -> old.sender().tryClaim(1)).isInstanceOf(PeerLostException.class);
    }
  }

  @Test
  void aStoppedPeerIsBackPressureAndNoError() {
    int count = 300;
    try (OtherProcess other = start("");
        Connection connection =
            Wires.connect(
                other.line() + options + "&peerTimeout=2s&closeTimeout=120s", Peer.COUNT)) {
      Numbered.send(connection.sender(), 0);
      connection.sender().await(1);
      other.stop();
      Task<Void> sending =
          Task.start(() -> {
            for (int i = 1; i < count; i++) {
              Numbered.send(connection.sender(), i);
            }
            return null;
          });
      Task.await("the sender stalls", () -> connection.counters().backPressureStalls() > 0);

      // several times the peer timeout, which applies to hosts that do not answer
      assertThatThrownBy(() -> connection.receiver().receive(Duration.ofSeconds(6)))
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
  void sentMessagesArriveWhetherThePeerClosesOrExits() {
    int count = 200;
    try (OtherProcess other = start("")) {
      String address = other.line() + options;
      try (Connection sender = Wires.connect(address + "&closeTimeout=120s", Peer.COUNT)) {
        for (int i = 0; i < count; i++) {
          Numbered.send(sender.sender(), i);
        }
      }
      assertThat(other.line()).isEqualTo("counted " + count);

      try (Connection receiver = Wires.connect(address, Peer.FLOOD + " " + count)) {
        for (int i = 0; i < count; i++) {
          if (i == count - 5) {
            // the peer closes with its last messages still on this side
            Task.await("the peer closes", () -> receiver.state() != ConnectionState.OPEN);
          }
          try (ReceiveRegion message = receiver.receiver().receive()) {
            Numbered.check(message, i);
          }
        }
        assertThatThrownBy(() -> receiver.receiver().receive())
            .isInstanceOf(EndOfStreamException.class);
        assertThat(receiver.state()).isEqualTo(ConnectionState.CLOSED_BY_PEER);
      }

      // without a close, sent messages arrive as well, but the connection ends in another way
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
}
