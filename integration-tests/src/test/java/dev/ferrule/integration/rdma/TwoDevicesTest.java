// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.Ferrule;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.PeerLostException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.RegisteredMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One listener with clients on two devices. The second device is created for the test, and remains:
 * the system does not remove a device that a process has open, and librdmacm keeps it open.
 */
@RdmaTest
@EnabledIfEnvironmentVariable(named = "FERRULE_RXE_VM", matches = ".+")
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TwoDevicesTest {

  private static final String SECOND_ADDRESS = "10.78.0.1";
  private static final int MESSAGES = 3000;

  @BeforeAll
  static void makeDevice() {
    Commands.run("ip", "link", "add", "v9", "type", "veth", "peer", "name", "v8");
    Commands.run("ip", "link", "set", "v8", "up");
    Commands.run("ip", "addr", "add", SECOND_ADDRESS + "/24", "dev", "v9");
    Commands.run("ip", "link", "set", "v9", "up");
    Commands.run("rdma", "link", "add", "rxe9", "type", "rxe", "netdev", "v9");
  }

  private static List<Wires.Pair> pairs(Listener listener) {
    List<Wires.Pair> pairs = new ArrayList<>();
    for (String address : List.of(RdmaDevice.address(), SECOND_ADDRESS)) {
      String uri = "sendrecv://" + address + ":" + listener.uri().getPort();
      Task<Connection> connecting =
          Task.start(() -> Wires.connect(uri + "?maxMessage=1KiB&receives=4", ""));
      Connection server = listener.accept(Task.PATIENCE);
      pairs.add(new Wires.Pair(connecting.result(), server));
    }
    return pairs;
  }

  private static Listener listen() {
    return Ferrule.listen(
        URI.create(
            "sendrecv://0.0.0.0:0?singleReceiver=on&maxMessage=1KiB&receives=64&unacked=16"));
  }

  /** The server's senders wait for credit all the time, and so poll both devices' queues. */
  @Test
  void shouldReceiveAllMessagesOfBothDevicesWhileOthersPollAsWell() {
    try (Listener listener = listen()) {
      Receiver receiver = listener.receiver();
      List<Wires.Pair> pairs = pairs(listener);
      List<Task<Void>> tasks = new ArrayList<>();
      for (Wires.Pair pair : pairs) {
        tasks.add(Task.start(() -> sendAll(pair.client(), MESSAGES)));
        Task.start(() -> sendUntilClosed(pair.server()));
        Task.start(() -> receiveUntilClosed(pair.client()));
      }
      Map<Connection, Integer> next = new HashMap<>();
      for (int i = 0; i < 2 * MESSAGES; i++) {
        try (ReceiveRegion message = receiver.receive(Task.PATIENCE)) {
          Numbered.check(message, next.merge(message.connection(), 1, Integer::sum) - 1);
        }
      }
      assertThat(next).hasSize(2).allSatisfy((c, count) -> assertThat(count).isEqualTo(MESSAGES));
      tasks.forEach(Task::result);
      pairs.forEach(Wires.Pair::close);
    }
  }

  /** The memory is registered with the second device when it is first sent over it. */
  @Test
  void shouldSendMemoryThatIsRegisteredOnOneDeviceOverTheOtherToo() {
    try (Arena arena = Arena.ofShared();
        Listener listener = listen()) {
      List<Wires.Pair> pairs = pairs(listener);
      RegisteredMemory memory = pairs.getFirst().client().register(arena.allocate(1000));
      for (int round = 0; round < 3; round++) {
        for (Wires.Pair pair : pairs) {
          memory.segment().fill((byte) round);
          pair.client().sender().await(pair.client().sender().sendRegistered(memory, 0, 1000));
          assertReceives(listener, round);
        }
      }

      pairs.getFirst().client().close();
      memory.segment().fill((byte) 9);
      pairs.getLast().client().sender().sendRegistered(memory, 0, 1000);
      memory.close();

      assertReceives(listener, 9);
      pairs.forEach(Wires.Pair::close);
    }
  }

  /** The peer is not at fault, and the program's loop connects again. */
  @ParameterizedTest
  @ValueSource(strings = {"sendrecv", "magicring"})
  void aDeviceThatLosesItsAddressLosesThePeer(String scheme) {
    try (Listener listener = Wires.listen(scheme + "://" + SECOND_ADDRESS + ":0?");
        Wires.Pair pair = Wires.pair(listener, "?closeTimeout=0s")) {
      Commands.run("ip", "addr", "del", SECOND_ADDRESS + "/24", "dev", "v9");
      try {
        Task<Void> sending = Task.start(() -> sendAll(pair.client(), Integer.MAX_VALUE));
        Task<Void> other = Task.start(() -> sendAll(pair.server(), Integer.MAX_VALUE));

        assertThat(sending.failure()).isInstanceOf(PeerLostException.class);
        assertThat(other.failure()).isInstanceOf(PeerLostException.class);
      } finally {
        Commands.run("ip", "addr", "add", SECOND_ADDRESS + "/24", "dev", "v9");
      }
    }
  }

  @Test
  void aHostWithoutARouteRefusesTheConnection() {
    Commands.run("ip", "route", "add", "unreachable", "192.0.2.0/24");
    try {
      assertThatThrownBy(() -> Wires.connect("sendrecv://192.0.2.1:1", ""))
          .isInstanceOf(ConnectionRefusedException.class)
          .hasMessageContaining("no route to that host");
    } finally {
      Commands.run("ip", "route", "del", "unreachable", "192.0.2.0/24");
    }
  }

  private static void assertReceives(Listener listener, int value) {
    try (ReceiveRegion message = listener.receiver().receive(Task.PATIENCE)) {
      assertThat(message.segment().toArray(ValueLayout.JAVA_BYTE))
          .hasSize(1000)
          .containsOnly(value);
    }
  }

  private static Void sendAll(Connection connection, int count) {
    for (int i = 0; i < count; i++) {
      Numbered.send(connection.sender(), i);
    }
    return null;
  }

  /** Sends until the connection is closed. */
  private static Void sendUntilClosed(Connection server) {
    try {
      while (true) {
        Numbered.send(server.sender(), 0);
      }
    } catch (FerruleException e) {
      return null;
    }
  }

  private static Void receiveUntilClosed(Connection client) {
    try {
      while (true) {
        client.receiver().receive().close();
        Task.pause(Duration.ofMillis(1));
      }
    } catch (FerruleException e) {
      return null;
    }
  }
}
