// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionState;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.MessageHandler;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One receiver for many connections, and one pool of buffers for many connections. */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ManyConnectionsTest {

  /** Obtained once, since this call allocates as well. */
  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final int CONNECTIONS = 32;
  private static final int MESSAGES = 50;
  private static final int CLOSED_EARLY = 60;
  private static final Duration PATIENCE = Task.PATIENCE;

  private static Listener listen(String query) {
    return listen("sendrecv", query);
  }

  private static Listener listen(String scheme, String query) {
    return Ferrule.listen(
        URI.create(Wires.listenAddress(scheme + "?maxMessage=4KiB&" + query)),
        ConnectionOptions.builder().set(StandardOptions.WAIT, WaitStrategy.BLOCK).build());
  }

  private static CompletableFuture<Connection> connect(Listener listener) {
    return CompletableFuture.supplyAsync(
        () ->
            Ferrule.connect(
                listener.uri(),
                ConnectionOptions.builder()
                    .set(StandardOptions.WAIT, WaitStrategy.BLOCK)
                    .set(StandardOptions.MAX_MESSAGE, 4096L)
                    .set(StandardOptions.CONNECT_TIMEOUT, PATIENCE)
                    .build()),
        task -> Thread.ofPlatform().start(task));
  }

  private static MemorySegment message(int sender, int number) {
    return MemorySegment.ofArray(new int[] {sender, number});
  }

  @ParameterizedTest
  @CsvSource({
    "sendrecv, singleReceiver=on",
    "sendrecv, singleReceiver=on&srq=on&receives=2048",
    "magicring, singleReceiver=on&ring=4KiB&window=8",
  })
  void shouldReceiveFromManyConnectionsInOrderAndNameTheConnection(String scheme, String query)
      throws Exception {
    try (Listener listener = listen(scheme, query)) {
      Receiver receiver = listener.receiver();
      List<CompletableFuture<Void>> clients = new ArrayList<>();
      List<Connection> servers = new ArrayList<>();
      for (int i = 0; i < CONNECTIONS; i++) {
        int sender = i;
        clients.add(
            connect(listener)
                .thenAccept(client -> {
                  for (int n = 0; n < MESSAGES; n++) {
                    client.sender().send(message(sender, n));
                  }
                  client.receiver().receive(PATIENCE).close(); // the answer to the last one
                  client.close();
                }));
        servers.add(listener.accept(PATIENCE));
      }
      Map<Connection, Integer> senders = new HashMap<>();
      Map<Connection, Integer> counts = new HashMap<>();
      for (int i = 0; i < CONNECTIONS * MESSAGES; i++) {
        try (ReceiveRegion message = receiver.receive(PATIENCE)) {
          int sender = message.segment().get(ValueLayout.JAVA_INT, 0);
          int number = message.segment().get(ValueLayout.JAVA_INT, 4);
          Connection connection = message.connection();
          assertThat(senders.putIfAbsent(connection, sender)).isIn(null, sender);
          assertThat(number).isEqualTo(counts.merge(connection, 1, Integer::sum) - 1);
          if (number == MESSAGES - 1) {
            connection.sender().send(message(sender, -1));
          }
        }
      }
      assertThat(counts).hasSize(CONNECTIONS).containsOnlyKeys(servers);
      assertThat(receiver.tryReceive()).isNull();
      for (CompletableFuture<Void> client : clients) {
        client.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      }
      servers.forEach(Connection::close);
    }
  }

  @Test
  void shouldEndTheCommonReceiverWithItsListener() throws Exception {
    Listener listener = listen("singleReceiver=on");
    Receiver receiver = listener.receiver();
    CompletableFuture<ReceiveRegion> receiving =
        CompletableFuture.supplyAsync(receiver::receive, task -> Thread.ofPlatform().start(task));
    CompletableFuture<Connection> connecting = connect(listener);
    Connection server = listener.accept(PATIENCE);
    connecting.get().sender().send(message(1, 2));
    receiving.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).close();
    assertThat(server.counters().messagesReceived()).isEqualTo(1);
    assertThat(server.counters().bytesReceived()).isEqualTo(message(1, 2).byteSize());
    assertThatThrownBy(server.receiver()::tryReceive).isInstanceOf(IllegalStateException.class);
    connecting.get().sender().send(message(1, 3));

    listener.close();

    assertThatThrownBy(receiver::receive).isInstanceOf(ConnectionClosedException.class);
    for (int number = 3; number < 600; number++) { // from then on it has its own receiver
      try (ReceiveRegion message = server.receiver().receive(PATIENCE)) {
        assertThat(message.segment().get(ValueLayout.JAVA_INT, 4)).isEqualTo(number);
      }
      connecting.get().sender().send(message(1, number + 1));
    }
    connecting.get().close();
    server.close();
  }

  /** A message may arrive before accept has returned its connection, and cause its closing. */
  @Test
  void shouldAllowAReceiverToCloseConnectionsThatAreBeingAccepted() throws Exception {
    try (Listener listener = listen("singleReceiver=on")) {
      Receiver receiver = listener.receiver();
      CompletableFuture<Void> closing =
          CompletableFuture.runAsync(
              () -> {
                for (int i = 0; i < CLOSED_EARLY; i++) {
                  ReceiveRegion message = receiver.receive(PATIENCE);
                  Connection connection = message.connection();
                  message.close();
                  connection.close();
                }
              },
              task -> Thread.ofPlatform().start(task));
      for (int i = 0; i < CLOSED_EARLY; i++) {
        CompletableFuture<Connection> connecting = connect(listener);
        CompletableFuture<Void> sending =
            connecting.thenAccept(client -> client.sender().send(message(1, 0)));
        try (Connection server = listener.accept(PATIENCE)) {
          sending.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
          assertThatThrownBy(() -> connecting.get().receiver().receive(PATIENCE))
              .isInstanceOf(EndOfStreamException.class);
          assertThat(server.state()).isNotEqualTo(ConnectionState.OPEN);
        }
        connecting.get().close();
      }
      closing.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
  }

  @Test
  void shouldDropTheUnreadMessagesOfClosedConnections() throws Exception {
    try (Listener listener = listen("singleReceiver=on&receives=4000")) {
      Receiver receiver = listener.receiver();
      for (int i = 0; i < 17; i++) { // more messages than buffers in total
        CompletableFuture<Connection> connecting = connect(listener);
        Connection server = listener.accept(PATIENCE);
        Connection client = connecting.get();
        for (int n = 0; n < 4000; n++) {
          client.sender().claim(0).stage();
          if (n % 32 == 31) {
            client.sender().flush();
          }
        }
        client.close();
        assertThat(server.counters().messagesReceived()).isZero();
        server.close();
      }
      CompletableFuture<Connection> connecting = connect(listener);
      Connection server = listener.accept(PATIENCE);
      connecting.get().sender().send(message(3, 4));
      try (ReceiveRegion message = receiver.receive(PATIENCE)) {
        assertThat(message.connection()).isSameAs(server);
        assertThat(message.segment().get(ValueLayout.JAVA_INT, 4)).isEqualTo(4);
      }
      connecting.get().close();
      server.close();
    }
  }

  @Test
  void shouldNameTheOptionThatACommonReceiverNeeds() {
    try (Listener listener = listen("srq=off")) {
      assertThatThrownBy(listener::receiver)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("singleReceiver=on");
    }
  }

  @Test
  void shouldNotUseMoreMemoryForMoreConnectionsThatShareTheirBuffers() throws Exception {
    try (Listener listener = listen("srq=on&receives=1024")) {
      List<Connection> connections = new ArrayList<>();
      connectOne(listener, connections);
      long one = lockedKilobytes();
      for (int i = 1; i < 8; i++) {
        connectOne(listener, connections);
      }
      long eight = lockedKilobytes();
      // the receive memory alone would be 7 times 4 MiB more; the send buffers of each connection
      // are not shared
      assertThat(eight - one).isLessThan(7 * (2 * 256 + 1024 + 512));
      connections.forEach(Connection::close);
    }
  }

  private static void connectOne(Listener listener, List<Connection> connections) throws Exception {
    CompletableFuture<Connection> connecting =
        CompletableFuture.supplyAsync(
            () -> Wires.connect(listener.uri() + "?maxMessage=64&receives=8", ""),
            task -> Thread.ofPlatform().start(task));
    connections.add(listener.accept(PATIENCE));
    connections.add(connecting.get());
  }

  private static long lockedKilobytes() throws Exception {
    return Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("VmPin:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
        .sum();
  }

  @Test
  void shouldRejectClientsWhileAllSharedBuffersAreInUseAndAcceptOthersLater() throws Exception {
    try (Listener listener = listen("srq=on&receives=64")) {
      List<Connection> connections = new ArrayList<>();
      Throwable refusal = null;
      while (refusal == null) {
        assertThat(connections.size()).isLessThan(64);
        CompletableFuture<Connection> connecting = connect(listener);
        try {
          connections.add(listener.nextRequest(PATIENCE).accept());
          connections.add(connecting.get());
        } catch (ResourceExhaustedException e) {
          refusal = e;
          assertThatThrownBy(connecting::get)
              .cause()
              .isInstanceOf(ResourceExhaustedException.class)
              .hasMessageContaining("receives");
        }
      }
      assertThat(connections).isNotEmpty();
      connections.forEach(Connection::close);

      try (Wires.Pair pair = Wires.pairOnceThereAreBuffers(listener, "?maxMessage=4KiB")) {
        pair.client().sender().send(message(0, 0));
        pair.server().receiver().receive(PATIENCE).close();
      }
    }
  }

  @Test
  void shouldRepostBuffersOfAConnectionThatIsClosedWhileItsMessagesAreHeld() throws Exception {
    try (Listener listener = listen("srq=on&receives=64");
        Arena arena = Arena.ofConfined()) {
      MemorySegment message = arena.allocate(8);
      for (int round = 0; round < 30; round++) { // more messages than buffers
        Wires.Pair pair = Wires.pairOnceThereAreBuffers(listener, "?maxMessage=4KiB");
        Connection server = pair.server();
        Connection client = pair.client();
        client.sender().send(message);
        for (int i = 1; i < 5 && Wires.hasRoom(client.sender()); i++) {
          client.sender().send(message);
        }
        ReceiveRegion held = server.receiver().receive(PATIENCE); // further ones stay in the queue
        MemorySegment segment = held.segment();
        server.close();
        assertThatThrownBy(held::segment).isInstanceOf(ConnectionClosedException.class);
        segment.get(ValueLayout.JAVA_BYTE, 0); // any byte: the buffer is reused
        held.close(); // allowed, and does nothing
        client.close();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"singleReceiver=on", "singleReceiver=on&srq=on&receives=256"})
  void shouldAllocateNothingToReceiveFromSeveralConnections(String query) throws Exception {
    try (Listener listener = listen(query);
        Arena arena = Arena.ofConfined()) {
      Receiver receiver = listener.receiver();
      List<Connection> clients = new ArrayList<>();
      List<Connection> servers = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        CompletableFuture<Connection> connecting = connect(listener);
        servers.add(listener.accept(PATIENCE));
        clients.add(connecting.get());
      }
      MemorySegment message = arena.allocate(8);
      MessageHandler handler = (segment, offset, length) -> {};
      Task.await(
          "a round allocates nothing, once all of it is compiled",
          () -> {
            long before = allocated();
            for (int i = 0; i < 500; i++) {
              for (int c = 0; c < clients.size(); c++) {
                clients.get(c).sender().send(message, 0, 8);
              }
              for (int left = clients.size(); left > 0; ) {
                left -= receiver.poll(handler, left);
              }
            }
            return allocated() == before;
          });
      clients.forEach(Connection::close);
      servers.forEach(Connection::close);
    }
  }

  private static long allocated() {
    return THREADS.getCurrentThreadAllocatedBytes();
  }

  @Test
  void shouldRejectAConnectionsOwnReceiverIfThereIsACommonOne() throws Exception {
    try (Listener listener = listen("singleReceiver=on")) {
      CompletableFuture<Connection> first = connect(listener);
      Connection used = listener.accept(PATIENCE);
      assertThat(used.receiver().tryReceive()).isNull();
      CompletableFuture<Connection> second = connect(listener);
      Connection unused = listener.accept(PATIENCE);

      Receiver common = listener.receiver();
      first.get().sender().send(message(1, 1));
      second.get().sender().send(message(2, 2));

      assertThatThrownBy(unused.receiver()::tryReceive)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("Listener.receiver()");
      try (ReceiveRegion message = common.receive(PATIENCE)) {
        assertThat(message.connection()).isSameAs(unused);
      }
      try (ReceiveRegion message = used.receiver().receive(PATIENCE)) {
        assertThat(message.segment().get(ValueLayout.JAVA_INT, 0)).isEqualTo(1);
      }
      first.get().close();
      second.get().close();
    }
  }
}
