// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionState;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.posix.Errno;
import dev.ferrule.sendrecv.SendRecvProvider;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.CompletionStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a program observes when the device refuses a call or fails. The faults are simulated. */
@SuppressWarnings("try") // closing early is what is tested
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeviceFaultsTest {

  private static final String SMALL = "?receives=8&maxMessage=4KiB&wait=block";
  private static final URI ANY_PORT =
      URI.create("sendrecv://" + RdmaDevice.address() + ":0?maxMessage=4KiB");

  private final FaultyLibrary device = new FaultyLibrary();
  private final SendRecvProvider provider = new SendRecvProvider(device.library);
  private Listener listener;

  @BeforeEach
  void listen() {
    listener = Wires.listen(SMALL);
  }

  @AfterEach
  void closeAndExpectNothingLeft() {
    listener.close();
    device.repair();
    expectNothingLeft();
  }

  private void expectNothingLeft() {
    // another thread releases the context
    Task.await(() -> "no object is left, of " + device.left(), () -> device.left().isEmpty());
  }

  private Connection connect(Listener to) {
    return provider.connect(
        URI.create(to.uri() + SMALL + "&peerTimeout=0"),
        ConnectionOptions.builder().set(StandardOptions.CONNECT_TIMEOUT, Task.PATIENCE).build());
  }

  /**
   * Returns a connection whose client uses the device with faults. It sends no probes, which would
   * meet a fault before the test does.
   */
  private Wires.Pair pair() {
    Task<Connection> connecting = Task.start(() -> connect(listener));
    Connection server = listener.accept(Task.PATIENCE);
    return new Wires.Pair(connecting.result(), server);
  }

  private static void expectLost(Connection peer) {
    assertThat(Task.start(() -> peer.receiver().receive()).failure())
        .isInstanceOf(PeerLostException.class);
  }

  /** The client's host may receive the disconnect before it has completed the connection. */
  private static void expectEndedAtOnce(Task<Connection> connecting) {
    Connection client;
    try {
      client = connecting.result();
    } catch (AssertionError e) {
      assertThat(e.getCause())
          .isInstanceOf(ConnectionRefusedException.class)
          .hasMessageContaining("at once");
      return;
    }
    expectLost(client);
    client.close();
  }

  @Test
  void aSendThatTheDeviceRefusesEndsTheConnectionAndIsNamed() {
    try (Wires.Pair pair = pair()) {
      long first = Numbered.send(pair.client().sender(), 0);
      pair.client().sender().await(first, Task.PATIENCE); // the server's device has received it
      device.fail("postSend", Errno.ENOMEM);

      assertThatThrownBy(() -> Numbered.send(pair.client().sender(), 1))
          .isInstanceOf(ResourceExhaustedException.class)
          .hasMessageContaining("ibv_post_send")
          .hasMessageContaining("Cannot allocate memory");

      assertThat(pair.client().state()).isEqualTo(ConnectionState.FAILED);
      assertThatThrownBy(() -> pair.client().sender().await(first + 1))
          .isInstanceOf(ResourceExhaustedException.class);
      pair.client().close();
      try (ReceiveRegion message = pair.server().receiver().receive(Task.PATIENCE)) {
        Numbered.check(message, 0); // earlier messages are not lost
      }
      expectLost(pair.server());
    }
  }

  @Test
  void aReceiveThatTheDeviceRefusesEndsTheConnectionAndIsNamed() {
    try (Wires.Pair pair = pair()) {
      device.fail("postRecv", Errno.ENOMEM);

      Task<Void> receiving =
          Task.start(() -> {
            for (int i = 0; ; i++) {
              try (ReceiveRegion message = pair.client().receiver().receive()) {
                Numbered.check(message, i);
              }
            }
          });
      Task<Void> sending =
          Task.start(() -> {
            for (int i = 0; ; i++) {
              Numbered.send(pair.server().sender(), i);
            }
          });

      assertThat(receiving.failure())
          .isInstanceOf(ResourceExhaustedException.class)
          .hasMessageContaining("ibv_post_recv");
      pair.client().close();
      assertThat(sending.failure()).isInstanceOf(PeerLostException.class);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "FLUSHED, flushed",
    "RNR_RETRY_EXCEEDED, rnrRetry",
    "RETRY_EXCEEDED, ackTimeout",
    "RESPONSE_TIMEOUT, link is cut",
    "LOCAL_PROTECTION_ERROR, not registered",
    "FATAL, the device is in a fatal state",
    "GENERAL_ERROR, GENERAL_ERROR",
  })
  void aFailedSendEndsTheConnectionAndOutstandingOperations(CompletionStatus status, String text) {
    try (Wires.Pair pair = pair()) {
      device.failSends(status);
      long id = Numbered.send(pair.client().sender(), 0);
      Task<Void> waiting =
          Task.start(() -> {
            pair.client().receiver().receive();
            return null;
          });

      assertThatThrownBy(() -> pair.client().sender().await(id, Task.PATIENCE))
          .isInstanceOf(PeerLostException.class)
          .hasMessageContaining(text);
      assertThat(waiting.failure())
          .isInstanceOf(PeerLostException.class)
          .hasMessageContaining(text);
      pair.client().close();
      pair.server().receiver().receive(Task.PATIENCE).close();
      expectLost(pair.server());
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = CompletionStatus.class,
      names = {"LOCAL_LENGTH_ERROR", "REMOTE_INVALID_REQUEST_ERROR"})
  void aMessageThatIsTooLongForTheReceiverViolatesTheProtocol(CompletionStatus status) {
    try (Wires.Pair pair = pair()) {
      device.failSends(status);
      long id = Numbered.send(pair.client().sender(), 0);

      assertThatThrownBy(() -> pair.client().sender().await(id, Task.PATIENCE))
          .isInstanceOf(ProtocolException.class)
          .hasMessageContaining("maxMessage");
    }
  }

  @Test
  void aReceiveThatFailsEndsTheConnection() {
    try (Wires.Pair pair = pair()) {
      device.failReceives(CompletionStatus.LOCAL_PROTECTION_ERROR);
      Numbered.send(pair.server().sender(), 0);

      assertThatThrownBy(() -> pair.client().receiver().receive(Task.PATIENCE))
          .isInstanceOf(PeerLostException.class)
          .hasMessageContaining("not registered");
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = AsyncEvent.Type.class,
      names = {
        "QUEUE_PAIR_FATAL",
        "QUEUE_PAIR_REQUEST_ERROR",
        "QUEUE_PAIR_ACCESS_ERROR",
        "COMPLETION_QUEUE_ERROR",
        "SHARED_RECEIVE_QUEUE_ERROR",
        "WORK_QUEUE_FATAL",
        "DEVICE_FATAL"
      })
  void anAsynchronousErrorOfTheDeviceEndsTheConnection(AsyncEvent.Type type) {
    try (Wires.Pair pair = pair()) {
      Task<Void> waiting =
          Task.start(() -> {
            pair.client().receiver().receive();
            return null;
          });
      device.report(type);

      assertThat(waiting.failure())
          .isInstanceOf(PeerLostException.class)
          .hasMessageContaining(type == AsyncEvent.Type.DEVICE_FATAL ? "device" : type.toString());
      pair.client().close();
      expectLost(pair.server());
    }
  }

  @Test
  void anEventThatIsNoErrorEndsNothing() {
    try (Wires.Pair pair = pair()) {
      device.report(AsyncEvent.Type.PORT_ERROR);
      device.report(AsyncEvent.Type.COMMUNICATION_ESTABLISHED);
      device.awaitEventsTaken();

      Numbered.send(pair.client().sender(), 0);
      try (ReceiveRegion message = pair.server().receiver().receive(Task.PATIENCE)) {
        Numbered.check(message, 0);
      }
      assertThat(pair.client().state()).isEqualTo(ConnectionState.OPEN);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "createEventChannel, rdma_create_event_channel",
    "createId, rdma_create_id",
    "resolveAddr, rdma_resolve_addr",
    "resolveRoute, rdma_resolve_route",
    "queryDevice, ibv_query_device",
    "allocPd, ibv_alloc_pd",
    "createCompChannel, ibv_create_comp_channel",
    "createCq, ibv_create_cq",
    "createQp, rdma_create_qp",
    "regMr, ibv_reg_mr",
    "regMrIova, ibv_reg_mr_iova2",
    "postRecv, ibv_post_recv",
    "connect, rdma_connect",
  })
  void aClientWithoutAResourceNamesItAndLeavesNothingBehind(String function, String named) {
    device.fail(function, Errno.ENOMEM);

    assertThatThrownBy(() -> connect(listener))
        .isInstanceOf(ResourceExhaustedException.class)
        .hasMessageContaining(named)
        .hasMessageContaining("Cannot allocate memory");

    device.repair();
    expectNothingLeft();
    try (Wires.Pair pair = pair()) {
      Numbered.send(pair.client().sender(), 0);
      pair.server().receiver().receive(Task.PATIENCE).close();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "queryDevice, ibv_query_device, off",
    "allocPd, ibv_alloc_pd, off",
    "createCompChannel, ibv_create_comp_channel, off",
    "createCq, ibv_create_cq, off",
    "createQp, rdma_create_qp, off",
    "regMr, ibv_reg_mr, off",
    "regMrIova, ibv_reg_mr_iova2, off",
    "postRecv, ibv_post_recv, off",
    "accept, rdma_accept, off",
    "createSrq, ibv_create_srq, on",
    "postSrqRecv, ibv_post_srq_recv, on",
  })
  void aListenerWithoutAResourceReportsItToBothSides(String function, String named, String srq) {
    try (Listener lacking =
        provider.listen(
            URI.create("sendrecv://" + RdmaDevice.address() + ":0" + SMALL + "&srq=" + srq),
            ConnectionOptions.defaults())) {
      device.fail(function, Errno.ENOMEM);
      Task<Connection> connecting = Task.start(() -> Wires.connect(lacking.uri() + SMALL, ""));

      assertThatThrownBy(() -> lacking.accept(Task.PATIENCE))
          .isInstanceOf(ResourceExhaustedException.class)
          .hasMessageContaining(named);
      assertThat(connecting.failure())
          .isInstanceOf(FerruleException.class)
          .hasMessageContaining(named);

      device.repair();
      Task<Connection> accepting = Task.start(() -> lacking.accept(Task.PATIENCE));
      try (Connection client = Wires.connect(lacking.uri() + SMALL, "");
          Connection server = accepting.result()) {
        Numbered.send(client.sender(), 0);
        server.receiver().receive(Task.PATIENCE).close();
      }
    }
  }

  /** By then the connection has its queues and its share of the common resources. */
  @ParameterizedTest
  @ValueSource(strings = {"", "&srq=on", "&singleReceiver=on", "&srq=on&singleReceiver=on"})
  void anAcceptThatFailsInItsLastStepDisturbsNoOtherConnection(String modes) {
    URI address = URI.create("sendrecv://" + RdmaDevice.address() + ":0?maxMessage=4KiB" + modes);
    try (Listener failing = provider.listen(address, ConnectionOptions.defaults());
        Wires.Pair other = Wires.pair(failing, SMALL)) {
      for (int i = 0; i < 5; i++) {
        device.fail("modifyQp", Errno.EIO);
        Task<Connection> connecting = Task.start(() -> Wires.connect(failing.uri() + SMALL, ""));
        assertThatThrownBy(() -> failing.accept(Task.PATIENCE))
            .isInstanceOf(FerruleException.class)
            .hasMessageContaining("ibv_modify_qp");
        device.repair();
        expectEndedAtOnce(connecting);
        for (int n = 0; n < 20; n++) {
          Numbered.send(other.client().sender(), n);
          try (ReceiveRegion message = other.server().receiver().receive(Task.PATIENCE)) {
            Numbered.check(message, n);
          }
        }
      }
    }
  }

  @Test
  void aClientThatConnectsWhileTheListenerIsBeingCreatedIsAccepted() {
    URI address;
    try (Listener other = provider.listen(ANY_PORT, ConnectionOptions.defaults())) {
      address = other.uri();
    }
    List<Task<Connection>> connecting = new ArrayList<>();
    device.afterNext(
        "listen",
        () -> {
          connecting.add(Task.start(() -> Wires.connect(address + SMALL, "")));
          device.awaitRequestTaken();
        });
    try (Listener made = provider.listen(address, ConnectionOptions.defaults());
        Connection server = made.accept(Task.PATIENCE);
        Connection client = connecting.get(0).result()) {
      Numbered.send(client.sender(), 1);
      Numbered.check(server.receiver().receive(Task.PATIENCE), 1);
    }
  }

  /** The connection must fail by the violation, and not because it was accepted too late. */
  @Test
  void aClientThatViolatesTheProtocolWhileBeingAcceptedStopsNoOther() throws Exception {
    URI plain = URI.create(ANY_PORT + "&hello=off&credits=off");
    try (Listener made = provider.listen(plain, ConnectionOptions.defaults())) {
      CountDownLatch sent = new CountDownLatch(1);
      CountDownLatch detected = new CountDownLatch(1);
      device.afterNext("accept", () -> await(sent));
      Task<Void> breaking =
          Task.start(() -> {
            try (RawPeer hostile = RawPeer.connect(made.uri().getPort(), new byte[0])) {
              hostile.send(new byte[8192]); // twice the listener's limit
              sent.countDown();
              await(detected);
            }
            return null;
          });
      Task<Connection> accepting = Task.start(() -> made.accept(Task.PATIENCE));
      Connection first = accepting.result();
      Task.await("the violation is detected", () -> first.state() == ConnectionState.FAILED);
      detected.countDown();
      first.close();
      breaking.result();
      try (Wires.Pair pair = Wires.pair(made, SMALL + "&hello=off&credits=off")) {
        Numbered.send(pair.client().sender(), 1);
        Numbered.check(pair.server().receiver().receive(Task.PATIENCE), 1);
      }
    }
  }

  private static void await(CountDownLatch latch) {
    Task.await("the other thread has reached this point", () -> latch.getCount() == 0);
  }

  @Test
  void memoryThatIsRegisteredWhileTheConnectionIsClosedIsDeregistered() {
    MemorySegment memory = Arena.ofAuto().allocate(4096);
    for (int i = 0; i < 10; i++) {
      Wires.Pair pair = pair();
      AtomicInteger registered = new AtomicInteger();
      Task<Void> registering =
          Task.start(() -> {
            while (true) {
              pair.client().register(memory);
              registered.incrementAndGet();
            }
          });
      int least = i; // so that the close follows at different moments
      Task.await("memory is registered", () -> registered.get() >= least);
      pair.close();
      assertThat(registering.failure()).isInstanceOf(ConnectionClosedException.class);
    }
    expectNothingLeft(); // the listener of this test uses another library
  }

  /** Messages that were received but not yet polled must not be lost with the queue pair. */
  @ParameterizedTest
  @ValueSource(strings = {"", "&singleReceiver=on"})
  void sharedBuffersAreRepostedAlthoughTheDeviceDropsTheCompletionsOfAQueuePair(String modes) {
    device.dropCompletionsOfDestroyed();
    URI address =
        URI.create(
            "sendrecv://" + RdmaDevice.address() + ":0?maxMessage=4KiB&srq=on&receives=32" + modes);
    try (Listener sharing = provider.listen(address, ConnectionOptions.defaults())) {
      for (int i = 0; i < 12; i++) {
        Wires.Pair pair = Wires.pairOnceThereAreBuffers(sharing, SMALL);
        Sender sender = pair.client().sender();
        long last = Numbered.send(sender, 0);
        for (int n = 1; n < 3 && Wires.hasRoom(sender); n++) {
          last = Numbered.send(sender, n);
        }
        sender.await(last); // the server's device has received them
        pair.server().close();
        pair.client().close();
      }
      try (Wires.Pair pair = Wires.pairOnceThereAreBuffers(sharing, SMALL)) {
        for (int n = 0; n < 20; n++) {
          Numbered.send(pair.client().sender(), n);
          try (ReceiveRegion message = pair.server().receiver().receive(Task.PATIENCE)) {
            Numbered.check(message, n);
          }
        }
      }
    }
  }
}
