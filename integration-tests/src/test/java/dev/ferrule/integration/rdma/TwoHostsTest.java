// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionState;
import dev.ferrule.FerruleException;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteMemory;
import dev.ferrule.Rma;
import dev.ferrule.RmaHandle;
import dev.ferrule.integration.rdma.PeerAgent.RemoteProcess;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What a program observes when the other host, or the wire to it, fails. One process on the other
 * host is the peer of all tests, as starting a process takes long; each test has its own
 * connections.
 */
@Tag("rdma-two")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TwoHostsTest {

  /**
   * A silent host is probed every 8 s, and is considered lost when 7 attempts of 1.07 s each are
   * unanswered. An emulated host may be silent for almost that long. rdma_rxe treats 7 retries as
   * infinite, so there are 6. The device must detect the loss before peerTimeout ends the
   * connection. The first connect may take long, as each side loads half of the library. A close
   * that waited for a failed connection would outlast {@link Task#PATIENCE}.
   */
  private static final String IMPATIENT =
      "?receives=16&maxMessage=4KiB&peerTimeout=32s&ackTimeout=18&retries=6&connectTimeout=120s"
          + "&closeTimeout=300s";

  /** The same options for magicring. */
  private static final String RING = IMPATIENT.replace("receives=16", "ring=16KiB&window=16");

  /**
   * The bytes of an access over a wire that loses and reorders packets: one packet. rdma_rxe
   * retransmits longer accesses from the first missing packet on, and gives up after its number of
   * retries, however much arrived meanwhile.
   */
  private static final int ONE_PACKET = 1024;

  private static RemoteProcess other;
  private static String address;
  private static String ringAddress;

  @BeforeAll
  static void startPeer() throws IOException {
    other = RemoteProcess.start(IMPATIENT, "magicring" + RING);
    address = other.line() + IMPATIENT;
    ringAddress = other.line() + RING;
  }

  @AfterAll
  static void endPeer() throws IOException {
    other.close();
  }

  private static void echo(Connection connection, int count) {
    Task<Void> sending =
        Task.start(() -> {
          for (int i = 0; i < count; i++) {
            Numbered.send(connection.sender(), i);
          }
          return null;
        });
    for (int i = 0; i < count; i++) {
      try (ReceiveRegion message = connection.receiver().receive(Task.PATIENCE)) {
        Numbered.check(message, i);
      }
    }
    sending.result();
  }

  /** One connection of each kind: one that is idle, one that sends, one that receives. */
  private static final class Busy {
    private final List<Connection> connections = new ArrayList<>();
    private final List<Task<Void>> tasks = new ArrayList<>();
    private final Connection idle;

    Busy(String address) {
      idle = Wires.connect(address, Peer.IDLE);
      Connection waiting = Wires.connect(address, Peer.IDLE);
      Connection sending = Wires.connect(address, Peer.ECHO);
      Connection receiving = Wires.connect(address, Peer.STREAM);
      connections.addAll(List.of(idle, waiting, sending, receiving));
      tasks.add(
          Task.start(() -> {
            waiting.receiver().receive();
            return null;
          }));
      tasks.add(
          Task.start(() -> {
            for (int i = 0; i >= 0; i++) {
              Numbered.send(sending.sender(), i);
              sending.receiver().receive().close();
            }
            return null;
          }));
      tasks.add(
          Task.start(() -> {
            for (int i = 0; i >= 0; i++) {
              try (ReceiveRegion message = receiving.receiver().receive()) {
                Numbered.check(message, i);
              }
            }
            return null;
          }));
      Task.await("messages flow", () -> sending.counters().messagesReceived() > 20);
      Task.await("messages arrive", () -> receiving.counters().messagesReceived() > 20);
    }

    void areAllLost() {
      for (Task<Void> task : tasks) {
        assertThat(task.failure()).isInstanceOf(PeerLostException.class);
      }
      Task.await("the idle connection is lost", () -> idle.state() == ConnectionState.FAILED);
      for (Connection connection : connections) {
        assertThat(connection.failure())
            .isInstanceOf(PeerLostException.class)
            .hasMessageContaining("does not answer")
            .hasMessageContaining("ackTimeout");
        Task.start(
                () -> {
                  connection.close(); // does not wait for messages that cannot be delivered
                  return null;
                })
            .result();
      }
    }
  }

  /** The providers' addresses on the other host. */
  static Stream<String> addresses() {
    return Stream.of(address, ringAddress);
  }

  @ParameterizedTest
  @MethodSource("addresses")
  @Order(1)
  void messagesPassBetweenTwoHosts(String address) throws IOException {
    try (Connection connection = Wires.connect(address, Peer.ECHO)) {
      echo(connection, 200);
    }
    assertThat(other.line()).isEqualTo("echo ended: EndOfStreamException");
    try (Connection connection = Wires.connect(address, Peer.COUNT)) {
      for (int i = 0; i < 200; i++) {
        Numbered.send(connection.sender(), i);
      }
    }
    assertThat(other.line()).isEqualTo("counted 200");
  }

  @ParameterizedTest
  @MethodSource("addresses")
  @Order(2)
  void memoryOfAnotherHostIsWrittenAndRead(String address) throws IOException {
    try (Connection connection = Wires.connect(address, Peer.BOARD)) {
      writeAndReadBack(connection, Peer.BOARD_SIZE);
    }
    assertThat(other.line()).isEqualTo("board ended: EndOfStreamException");
  }

  private static void writeAndReadBack(Connection connection, int size) {
    RmaHandle handle;
    try (ReceiveRegion message = connection.receiver().receive(Task.PATIENCE)) {
      handle = RmaHandle.of(message.segment().toArray(ValueLayout.JAVA_BYTE));
    }
    Rma rma = connection.rma();
    RemoteMemory board = rma.attach(handle);
    MemorySegment mine = Arena.ofAuto().allocate(Peer.BOARD_SIZE);
    for (long i = 0; i < size; i += Long.BYTES) {
      mine.set(ValueLayout.JAVA_LONG, i, i * 0x9e3779b97f4a7c15L);
    }
    MemorySegment back = Arena.ofAuto().allocate(Peer.BOARD_SIZE);
    RegisteredMemory local = connection.register(mine);
    RegisteredMemory target = connection.register(back);

    rma.writeAndSend(local, 0, board, 0, size, MemorySegment.ofArray(new byte[1]));
    try (ReceiveRegion answer = connection.receiver().receive(Task.PATIENCE)) {
      assertThat(answer.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 0))
          .isEqualTo(Peer.sum(mine));
    }
    rma.await(rma.read(target, 0, board, 0, Peer.BOARD_SIZE), Task.PATIENCE);
    assertThat(back.mismatch(mine)).isEqualTo(-1);
  }

  @ParameterizedTest
  @MethodSource("addresses")
  @Order(3)
  void aWireThatDelaysAndLosesPacketsLosesAndDoublesNoMessage(String address) throws IOException {
    Commands.run(
        "tc", "qdisc", "add", "dev", "eth0", "root", "netem", "delay", "2ms", "1ms", "loss", "3%");
    try (Connection connection = Wires.connect(address, Peer.ECHO)) {
      echo(connection, 200);
      try (Connection access = Wires.connect(address, Peer.BOARD)) {
        writeAndReadBack(access, ONE_PACKET);
      }
      assertThat(other.line()).isEqualTo("board ended: EndOfStreamException");
    } finally {
      Commands.run("tc", "qdisc", "del", "dev", "eth0", "root");
    }
    assertThat(other.line()).isEqualTo("echo ended: EndOfStreamException");
  }

  @Test
  @Order(4)
  void aCutWireLosesThePeerAndAfterRepairCarriesNewConnections() {
    List<Busy> all = addresses().map(Busy::new).toList();
    Commands.run("rxe-wire", "down");
    try {
      all.forEach(Busy::areAllLost);
      String hasty = address.replace("connectTimeout=120s", "connectTimeout=2s");
      assertThatThrownBy(() -> Wires.connect(hasty, Peer.IDLE))
          .isInstanceOf(FerruleException.class)
          .isNotInstanceOf(InvalidOptionException.class);
    } finally {
      Commands.run("rxe-wire", "up");
    }
    addresses()
        .forEach(each -> {
          try (Connection connection = Wires.connect(each, Peer.ECHO)) {
            echo(connection, 100);
          }
        });
  }

  /** Also on QEMU's wire. */
  @Test
  @Order(5)
  @Tag("emulated")
  void aSilentHostIsDetectedWithTheDefaultOptions() {
    Connection connection = Wires.connect(address.substring(0, address.indexOf('?')), Peer.IDLE);
    Commands.run("rxe-wire", "down");
    try {
      // the host is probed after a quarter of the default peerTimeout
      assertThat(Task.start(() -> connection.receiver().receive()).failure())
          .isInstanceOf(PeerLostException.class);
    } finally {
      Commands.run("rxe-wire", "up");
      connection.close();
    }
  }

  /** Must be the last test. */
  @Test
  @Order(10)
  void aHostThatDiesSuddenlyIsLost() {
    List<Busy> all = addresses().map(Busy::new).toList();
    Commands.run("rxe-wire", "kill-peer");
    all.forEach(Busy::areAllLost);
  }
}
