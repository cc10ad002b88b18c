// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionState;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ProtocolException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.ring.RingTestHook;
import dev.ferrule.sm.ring.RingTestPoint;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One thread receives from all connections of a listener. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ManyConnectionsTest {

  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final Duration SHORT = Duration.ofMillis(50);

  private final SmUnderTest addresses = new SmUnderTest();

  @AfterEach
  void removeDirectory() {
    addresses.close();
  }

  /** Both ends of each connection; the clients' in the order in which they connected. */
  private final class Star implements AutoCloseable {
    private final Listener listener;
    private final List<Connection> clients = new ArrayList<>();
    private final List<Connection> servers = new ArrayList<>();

    private Star(int connections, String... more) {
      ConnectionOptions.Builder options =
          ConnectionOptions.builder()
              .set("singleReceiver", "on")
              .set("ring", "4KiB")
              .set(StandardOptions.MAX_MESSAGE, 64L);
      for (int i = 0; i < more.length; i += 2) {
        options.set(more[i], more[i + 1]);
      }
      listener = Ferrule.listen(addresses.listenAddress(), options.build());
      for (int i = 0; i < connections; i++) {
        add(options.build());
      }
    }

    private void add(ConnectionOptions options) {
      CompletableFuture<Connection> connecting =
          inBackground(() -> Ferrule.connect(listener.uri(), options));
      servers.add(listener.accept(PATIENCE));
      clients.add(connecting.join());
    }

    private Receiver receiver() {
      return listener.receiver();
    }

    @Override
    public void close() {
      listener.close();
      clients.forEach(Connection::close);
      servers.forEach(Connection::close);
    }
  }

  private static <T> CompletableFuture<T> inBackground(Supplier<T> work) {
    return CompletableFuture.supplyAsync(work, task -> Thread.ofPlatform().daemon().start(task));
  }

  /** A thread that receives. */
  private record Receiving<T>(Thread thread, CompletableFuture<T> result) {

    static <T> Receiving<T> start(Supplier<T> work) {
      CompletableFuture<T> result = new CompletableFuture<>();
      Thread thread =
          Thread.ofPlatform()
              .daemon()
              .start(() -> {
                try {
                  result.complete(work.get());
                } catch (Throwable e) {
                  result.completeExceptionally(e);
                }
              });
      return new Receiving<>(thread, result);
    }

    /** Waits until the thread sleeps because there is no message. */
    Receiving<T> awaitAsleep() {
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      while (!Sleepers.isAsleep(thread)) {
        assertThat(result).as("nothing was sent").isNotDone();
        assertThat(System.nanoTime() - deadline).as("time to fall asleep").isNegative();
        Thread.onSpinWait();
      }
      return this;
    }

    T get() throws Exception {
      return result.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
  }

  private static void send(Connection connection, int number) {
    connection.sender().send(MemorySegment.ofArray(new int[] {number}));
  }

  /** Sends in payload lines, which the receiver releases. */
  private static void sendLong(Connection connection, int number) {
    int[] numbers = new int[400];
    numbers[0] = number;
    connection.sender().send(MemorySegment.ofArray(numbers));
  }

  private static int number(ReceiveRegion message) {
    return message.segment().get(ValueLayout.JAVA_INT_UNALIGNED, 0);
  }

  @Test
  void aThousandConnectionsToOneEndpointAreReceivedFromByOneThread() {
    int connections = 1_000;
    int messages = 5;
    try (Star star = new Star(connections)) {
      Map<Connection, Integer> last = new HashMap<>();
      CompletableFuture<Void> sending =
          CompletableFuture.runAsync(
              () -> {
                for (int i = 1; i <= messages; i++) {
                  for (Connection client : star.clients) {
                    send(client, i);
                  }
                }
              },
              task -> Thread.ofPlatform().daemon().start(task));
      for (int i = 0; i < connections * messages; i++) {
        try (ReceiveRegion message = star.receiver().receive(PATIENCE)) {
          int before = last.getOrDefault(message.connection(), 0);
          assertThat(number(message)).isEqualTo(before + 1);
          last.put(message.connection(), before + 1);
        }
      }
      sending.join();
      assertThat(last.keySet()).containsExactlyInAnyOrderElementsOf(star.servers);
      assertThat(star.receiver().tryReceive()).isNull();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aReceiverThatWaitsWakesUpForEachOfThem(WaitStrategy wait) throws Exception {
    try (Star star = new Star(5, "wait", wait.name().toLowerCase(java.util.Locale.ROOT))) {
      Receiver receiver = star.receiver();
      for (int round = 0; round < 200; round++) {
        Connection client = star.clients.get(round % 5);
        Receiving<Integer> receiving =
            Receiving.start(() -> {
              try (ReceiveRegion message = receiver.receive()) {
                return number(message);
              }
            });
        if (round % 10 == 0 && wait != WaitStrategy.SPIN) {
          receiving.awaitAsleep();
        }
        send(client, round);
        assertThat(receiving.get()).isEqualTo(round);
      }
    }
  }

  @Test
  void aConnectionThatIsAcceptedWhileTheReceiverSleepsIsReceivedFrom() throws Exception {
    try (Star star = new Star(1, "wait", "block")) {
      Receiver receiver = star.receiver();
      Receiving<Integer> receiving =
          Receiving.start(() -> number(receiver.receive())).awaitAsleep();
      star.add(
          ConnectionOptions.builder()
              .set("ring", "4KiB")
              .set(StandardOptions.MAX_MESSAGE, 64L)
              .build());
      send(star.clients.get(1), 7);
      assertThat(receiving.get()).isEqualTo(7);
    }
  }

  /** A connection that always has messages must not delay the others. */
  @Test
  void allConnectionsAreServedRoundRobin() {
    try (Star star = new Star(3)) {
      for (int i = 0; i < 16; i++) {
        send(star.clients.get(0), i);
      }
      send(star.clients.get(1), 100);
      send(star.clients.get(2), 200);
      List<Integer> polled = new ArrayList<>();
      star.receiver()
          .poll(
              (memory, offset, length) ->
                  polled.add(memory.get(ValueLayout.JAVA_INT_UNALIGNED, offset)),
              10);
      assertThat(polled).hasSize(10).contains(100, 200);
    }
  }

  @Test
  void messagesSentBeforeACloseAreReceivedAndTheOthersGoOn() {
    try (Star star = new Star(3)) {
      send(star.clients.get(0), 1);
      star.clients.get(0).close();
      send(star.clients.get(1), 2);
      List<Integer> received = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        try (ReceiveRegion message = star.receiver().receive(PATIENCE)) {
          received.add(number(message));
        }
      }
      assertThat(received).containsExactlyInAnyOrder(1, 2);
      assertThatThrownBy(() -> star.receiver().receive(SHORT))
          .isInstanceOf(OperationTimeoutException.class);
      star.servers.get(1).close();
      send(star.clients.get(2), 3);
      try (ReceiveRegion message = star.receiver().receive(PATIENCE)) {
        assertThat(number(message)).isEqualTo(3);
        assertThat(message.connection()).isSameAs(star.servers.get(2));
      }
      while (star.servers.get(0).state() == ConnectionState.OPEN) {
        Thread.onSpinWait(); // the endpoint's thread handles the close at any time
      }
      assertThat(star.servers.get(0).state()).isEqualTo(ConnectionState.CLOSED_BY_PEER);
    }
  }

  @Test
  void holdingAllMessagesOfOneConnectionStopsNoOther() {
    try (Star star = new Star(2)) {
      List<ReceiveRegion> held = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        send(star.clients.get(0), i);
        held.add(star.receiver().receive(PATIENCE));
      }
      send(star.clients.get(0), 16);
      assertThatThrownBy(() -> star.receiver().receive(SHORT))
          .isInstanceOf(OperationTimeoutException.class)
          .hasMessageContaining("this program holds all regions of a connection");
      send(star.clients.get(1), 99);
      try (ReceiveRegion message = star.receiver().receive(PATIENCE)) {
        assertThat(number(message)).isEqualTo(99);
      }
      held.forEach(ReceiveRegion::close);
      try (ReceiveRegion message = star.receiver().receive(PATIENCE)) {
        assertThat(number(message)).isEqualTo(16);
      }
    }
  }

  /** The header of a record in a hostile client's ring, behind which no message is valid. */
  @ParameterizedTest
  @ValueSource(ints = {0x1f, 0x10}) // of an unknown type, and of type 0 in a header that is not 0
  void aClientThatViolatesTheProtocolStopsNoOther(int header) throws Exception {
    try (Star star = new Star(2)) {
      star.receiver();
      Connection broken = star.servers.get(0);
      scribble(broken, header);
      assertThatThrownBy(() -> star.receiver().receive(SHORT))
          .isInstanceOf(OperationTimeoutException.class);
      assertThat(broken.state()).isEqualTo(ConnectionState.FAILED);
      send(star.clients.get(1), 4);
      try (ReceiveRegion message = star.receiver().receive(PATIENCE)) {
        assertThat(number(message)).isEqualTo(4);
      }
    }
  }

  /**
   * The client ends before its header is read, so that the connection ends for another reason. The
   * blocked receiver must not poll the connection again and again.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aClientThatViolatesTheProtocolAndEndsIsRemoved(boolean poll) throws Exception {
    try (Star star = new Star(2, "wait", "block")) {
      Receiver common = star.receiver();
      Connection broken = star.servers.get(0);
      scribble(broken, 0x1f); // an unknown type
      ((SmConnection) broken).giveUp("its process was killed");
      assertThat(broken.failure()).isNotInstanceOf(ProtocolException.class);
      List<Integer> got = new ArrayList<>();
      send(star.clients.get(1), 4);
      while (got.isEmpty()) {
        takeInto(got, common, poll);
      }
      assertThatThrownBy(() -> common.receive(SHORT)).isInstanceOf(OperationTimeoutException.class);
      send(star.clients.get(1), 5);
      while (got.size() < 2) {
        takeInto(got, common, poll);
      }
      assertThat(got).containsExactly(4, 5);
    }
  }

  private static void scribble(Connection connection, int header) {
    ConnectionMemory.ofReceiver(connection)
        .ring()
        .set(ValueLayout.JAVA_BYTE, new RingLayout(12, 0, 64).recordsOffset(), (byte) header);
  }

  private static void takeInto(List<Integer> got, Receiver receiver, boolean poll) {
    if (poll) {
      receiver.poll(
          (memory, offset, length) -> got.add(memory.get(ValueLayout.JAVA_INT_UNALIGNED, offset)),
          8);
      return;
    }
    ReceiveRegion message = receiver.tryReceive();
    if (message != null) {
      got.add(number(message));
      message.close();
    }
  }

  @Test
  void theFirstReceiverToAskOwnsTheMessages() {
    try (Star star = new Star(2)) {
      send(star.clients.get(0), 1);
      try (ReceiveRegion own = star.servers.get(0).receiver().receive(PATIENCE)) {
        assertThat(number(own)).isEqualTo(1);
      }
      Receiver common = star.receiver();
      assertThat(star.receiver()).isSameAs(common);
      send(star.clients.get(0), 2);
      send(star.clients.get(1), 3);
      try (ReceiveRegion message = common.receive(PATIENCE)) {
        assertThat(number(message)).isEqualTo(3);
      }
      assertThat(common.tryReceive()).isNull();
      assertThatThrownBy(() -> star.servers.get(1).receiver().tryReceive())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("Listener.receiver()");
      assertThat(number(star.servers.get(0).receiver().receive(PATIENCE))).isEqualTo(2);
    }
  }

  @Test
  void theCommonReceiverEndsWithItsListenerAndTheConnectionsOwnGoOn() throws Exception {
    try (Star star = new Star(2, "wait", "block")) {
      Receiver common = star.receiver();
      Receiving<ReceiveRegion> receiving = Receiving.start(common::receive).awaitAsleep();
      star.listener.close();
      assertThatThrownBy(receiving::get).hasCauseInstanceOf(ConnectionClosedException.class);
      assertThatThrownBy(common::tryReceive).isInstanceOf(ConnectionClosedException.class);
      send(star.clients.get(1), 5);
      try (ReceiveRegion message = star.servers.get(1).receiver().receive(PATIENCE)) {
        assertThat(number(message)).isEqualTo(5);
      }
    }
  }

  @Test
  void aListenerWithoutTheOptionNamesIt() {
    try (Listener listener = Ferrule.listen(addresses.listenAddress())) {
      assertThatThrownBy(listener::receiver)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("singleReceiver=on");
    }
  }

  /** Lets the listener's receiver stop just before it clears a connection's flag. */
  private static final class LateEnds {
    private final CountDownLatch late = new CountDownLatch(1);
    private volatile @Nullable Thread common;
    private volatile @Nullable Thread own;

    void reached(RingTestPoint step) {
      if (step == RingTestPoint.SLEEP_ENDS && Thread.currentThread() == common) {
        late.countDown();
        awaitOwnAsleep();
      }
    }

    /** Waits briefly: the receiver must not sleep before this one is done. */
    private void awaitOwnAsleep() {
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500);
      while (System.nanoTime() < deadline) {
        Thread thread = own;
        if (thread != null && Sleepers.isAsleep(thread)) {
          return;
        }
        Thread.onSpinWait();
      }
    }
  }

  @AfterEach
  void removeHook() {
    RingTestHook.ignore();
  }

  @Test
  void aListenersReceiverThatIsLateDoesNotClearTheFlagOfItsSuccessor() throws Exception {
    LateEnds ends = new LateEnds();
    RingTestHook.onReached(ends::reached);
    ConnectionOptions options =
        ConnectionOptions.builder()
            .set("singleReceiver", "on")
            .set("wait", "block")
            .set("peerTimeout", "0")
            .build();
    Listener listener = Ferrule.listen(addresses.listenAddress(), options);
    CompletableFuture<Connection> connecting =
        inBackground(() -> Ferrule.connect(listener.uri(), options));
    try (Connection server = listener.accept(PATIENCE);
        Connection client = connecting.join()) {
      Receiver common = listener.receiver();
      CompletableFuture<Void> waiting =
          inBackground(() -> {
            ends.common = Thread.currentThread();
            do { // until it has slept, for which a slow processor may leave it no time
              assertThatThrownBy(() -> common.receive(SHORT))
                  .as("no message until the deadline or until the listener is closed")
                  .isInstanceOfAny(
                      OperationTimeoutException.class, ConnectionClosedException.class);
            } while (ends.late.getCount() > 0);
            return null;
          });
      assertThat(ends.late.await(90, TimeUnit.SECONDS)).isTrue();
      listener.close();
      CompletableFuture<Integer> receiving =
          inBackground(() -> {
            ends.own = Thread.currentThread();
            try (ReceiveRegion message = server.receiver().receive()) {
              return number(message);
            }
          });
      waiting.join();
      send(client, 42);
      assertThat(receiving.get(90, TimeUnit.SECONDS)).isEqualTo(42);
    }
  }
}
