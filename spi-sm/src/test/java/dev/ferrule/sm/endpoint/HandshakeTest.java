// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.posix.Errno;
import dev.ferrule.posix.EventPoll;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.posix.SharedMapping;
import dev.ferrule.sm.endpoint.HandshakeMessage.Type;
import dev.ferrule.sm.os.Access;
import dev.ferrule.sm.ring.RingLayout;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The handshake over datagrams that are lost, duplicated or delayed, by a {@link DatagramSender}
 * between it and the socket.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HandshakeTest {

  private static final URI NAME = URI.create("sm:///test");
  private static final RingLayout LAYOUT = new RingLayout(12, 0, 100);

  @TempDir Path directory = Path.of("");

  private static long soon() {
    return System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
  }

  private Endpoint open(UnaryOperator<DatagramSender> wrapper) throws Exception {
    Endpoint endpoint =
        Endpoint.open(new SmAddress(directory, null), Access.USER, wrapper, EventPoll::new);
    assertThat(endpoint).isNotNull();
    return endpoint;
  }

  /** Creates the memory of a side, in its state before the handshake. */
  private static SealedFile memory(long generation) {
    SealedFile file = SealedFile.create(LAYOUT.ringSize(), LAYOUT.ringSize());
    SharedMapping mapping = file.map(LAYOUT.ringSize());
    LAYOUT.writeDescriptor(mapping.view(), 0, generation, 0, 0);
    Reference.reachabilityFence(mapping);
    return file;
  }

  private record Result(
      ClientHandshake client, ClientHandshake.Accepted accepted, ServerHandshake server) {}

  /** Runs a handshake between two endpoints, both of which send through the wrapper. */
  private Result shakeHands(Endpoint server, Endpoint client, Acceptor acceptor, long generation)
      throws Exception {
    try (SealedFile memory = memory(generation);
        SealedFile serversMemory = memory(1)) {
      int id = client.newConnection();
      ClientHandshake handshake =
          client.connect(id, server.address(), "hello".getBytes(StandardCharsets.UTF_8), memory);
      CompletableFuture<ClientHandshake.Accepted> connecting =
          CompletableFuture.supplyAsync(
              () -> {
                ClientHandshake.Accepted accepted = handshake.await(NAME, soon(), answer -> true);
                handshake.confirm(accepted);
                return accepted;
              },
              // a separate thread: the common pool of a small machine has only one
              task -> Thread.ofPlatform().daemon().start(task));
      ServerHandshake request;
      do {
        request = acceptor.next(soon());
        assertThat(request).isNotNull();
        // a late request, of an attempt that is over, may be returned once more; accepting it would
        // fail, because its ring is gone
      } while (request.generation() < generation);
      assertThat(request.payload()).asString().isEqualTo("hello");
      assertThat(request.generation()).isEqualTo(generation);
      request.take(NAME);
      int serverId = server.newConnection();
      request.accept(
          new ServerHandshake.Acceptance(
              NAME,
              serverId,
              "welcome".getBytes(StandardCharsets.UTF_8),
              serversMemory,
              soon(),
              () -> false));
      ClientHandshake.Accepted accepted = connecting.get(90, TimeUnit.SECONDS);
      assertThat(accepted.serverId()).isEqualTo(serverId);
      assertThat(accepted.payload()).asString().isEqualTo("welcome");
      client.removeConnection(id);
      server.removeConnection(serverId);
      return new Result(handshake, accepted, request);
    }
  }

  @Test
  void controlCharactersOfARefusalAreEscaped() throws Exception {
    Endpoint server = open(UnaryOperator.identity());
    Endpoint client = open(UnaryOperator.identity());
    Acceptor acceptor = server.listen(8);
    try (SealedFile memory = memory(1)) {
      int id = client.newConnection();
      ClientHandshake handshake = client.connect(id, server.address(), new byte[0], memory);
      CompletableFuture<Throwable> connecting =
          CompletableFuture.supplyAsync(
              () -> catchThrowable(() -> handshake.await(NAME, soon(), answer -> true)),
              task -> Thread.ofPlatform().daemon().start(task));
      ServerHandshake request = acceptor.next(soon());
      assertThat(request).isNotNull();
      request.refuse("\033[2Jgo\naway");
      assertThat(connecting.get(90, TimeUnit.SECONDS))
          .isInstanceOf(ConnectionRefusedException.class)
          .hasMessage(NAME + ": connection refused: \\u001b[2Jgo\\u000aaway");
    } finally {
      client.release();
      server.release();
    }
  }

  /** Such as after a first attempt that timed out while the listener was stopped. */
  @Test
  void shouldNotTakeALateAnswerToAnEarlierAttemptOfAnEndpointOfTheSameName() throws Exception {
    Endpoint server = open(UnaryOperator.identity());
    Endpoint client = open(UnaryOperator.identity());
    Acceptor acceptor = server.listen(8);
    try (SealedFile firstMemory = memory(1);
        SealedFile memory = memory(2)) {
      SmAddress name = client.address();
      client.send(
          new HandshakeMessage(Type.CONNECT, client.newConnection(), 0, new byte[0]),
          firstMemory,
          server.address());
      ServerHandshake first = acceptor.next(soon());
      assertThat(first).isNotNull();
      client.release();
      client = Endpoint.open(name, Access.USER);
      assertThat(client).isNotNull();
      ClientHandshake handshake =
          client.connect(client.newConnection(), server.address(), new byte[0], memory);
      first.refuse("the first");

      CompletableFuture<Throwable> connecting =
          CompletableFuture.supplyAsync(
              () -> catchThrowable(() -> handshake.await(NAME, soon(), answer -> true)),
              task -> Thread.ofPlatform().daemon().start(task));
      ServerHandshake second = acceptor.next(soon());
      assertThat(second).isNotNull();
      second.refuse("the second");

      assertThat(connecting.get(90, TimeUnit.SECONDS)).hasMessageEndingWith("the second");
    } finally {
      client.release();
      server.release();
    }
  }

  @Test
  void shouldRetransmitLostMessages() throws Exception {
    // the first two of each kind of message are lost
    class Losing implements UnaryOperator<DatagramSender> {
      private final int[] sent = new int[Type.values().length];

      @Override
      public DatagramSender apply(DatagramSender socket) {
        return (datagram, file, to) -> {
          int type = HandshakeMessage.decode(datagram).orElseThrow().type().ordinal();
          synchronized (sent) {
            if (sent[type]++ < 2) {
              return 0;
            }
          }
          return socket.send(datagram, file, to);
        };
      }
    }

    Losing losing = new Losing();
    Endpoint server = open(losing);
    Endpoint client = open(losing);
    try {
      Result result = shakeHands(server, client, server.listen(8), 1);
      assertThat(result.client().retransmissions()).isGreaterThanOrEqualTo(2);
      assertThat(result.server().retransmissions()).isGreaterThanOrEqualTo(2);
    } finally {
      client.release();
      server.release();
    }
  }

  /** Maps the memory passed with an acceptance, as a client does. */
  private static boolean isMapped(ClientHandshake.Accepted answer) {
    answer.memory().file().map(LAYOUT.ringSize());
    return true;
  }

  /** Passes a file that is too short for a connection's memory with the first acceptances. */
  private static UnaryOperator<DatagramSender> breaking(int acceptances, SealedFile tooShort) {
    int[] left = {acceptances};
    return socket ->
        (datagram, file, to) -> {
          boolean isAccept = HandshakeMessage.decode(datagram).orElseThrow().type() == Type.ACCEPT;
          synchronized (left) {
            return socket.send(datagram, isAccept && left[0]-- > 0 ? tooShort : file, to);
          }
        };
  }

  @Test
  void shouldTakeTheNextAcceptanceIfTheMemoryOfTheFirstCannotBeUsed() throws Exception {
    try (SealedFile tooShort = SealedFile.create(1, 1);
        SealedFile memory = memory(1);
        SealedFile serversMemory = memory(1)) {
      Endpoint server = open(breaking(2, tooShort));
      Endpoint client = open(UnaryOperator.identity());
      try {
        Acceptor acceptor = server.listen(8);
        ClientHandshake handshake =
            client.connect(client.newConnection(), server.address(), new byte[0], memory);
        CompletableFuture<Void> connecting =
            CompletableFuture.runAsync(
                () -> handshake.confirm(handshake.await(NAME, soon(), HandshakeTest::isMapped)),
                task -> Thread.ofPlatform().daemon().start(task));
        ServerHandshake request = acceptor.next(soon());
        assertThat(request).isNotNull();
        request.take(NAME);
        request.accept(
            new ServerHandshake.Acceptance(
                NAME, server.newConnection(), new byte[0], serversMemory, soon(), () -> false));
        connecting.get(90, TimeUnit.SECONDS);
      } finally {
        client.release();
        server.release();
      }
    }
  }

  @Test
  void shouldReportWhyNoAcceptanceCouldBeUsedAndBackOff() throws Exception {
    try (SealedFile tooShort = SealedFile.create(1, 1);
        SealedFile memory = memory(1);
        SealedFile serversMemory = memory(1)) {
      Endpoint server = open(breaking(Integer.MAX_VALUE, tooShort));
      AtomicInteger sent = new AtomicInteger();
      Endpoint client =
          open(socket ->
              (datagram, file, to) -> {
                sent.incrementAndGet();
                return socket.send(datagram, file, to);
              });
      try {
        Acceptor acceptor = server.listen(8);
        ClientHandshake handshake =
            client.connect(client.newConnection(), server.address(), new byte[0], memory);
        CompletableFuture<Throwable> connecting =
            CompletableFuture.supplyAsync(
                () -> {
                  // on a slow machine, a wait may end before the first acceptance arrives
                  Throwable failure = null;
                  for (AtomicInteger evaluated = new AtomicInteger(); evaluated.get() == 0; ) {
                    sent.set(0);
                    failure =
                        catchThrowable(() ->
                            handshake.await(
                                NAME,
                                System.nanoTime() + TimeUnit.SECONDS.toNanos(1),
                                answer -> {
                                  evaluated.incrementAndGet();
                                  return isMapped(answer);
                                }));
                  }
                  return failure;
                },
                task -> Thread.ofPlatform().daemon().start(task));
        ServerHandshake request = acceptor.next(soon());
        assertThat(request).isNotNull();
        request.take(NAME);
        request.offer(
            new ServerHandshake.Acceptance(
                NAME, server.newConnection(), new byte[0], serversMemory, soon(), () -> false),
            () -> {});
        assertThat(connecting.get(90, TimeUnit.SECONDS))
            .isInstanceOf(OperationTimeoutException.class)
            .hasMessageContaining("memory that cannot be used")
            .hasMessageContaining("a file of 1 bytes");
        assertThat(sent.get()).as("answered requests").isBetween(1, 20);
      } finally {
        client.release();
        server.release();
      }
    }
  }

  @Test
  void shouldServeOthersWhileAClientInspectsAnAcceptance() throws Exception {
    Endpoint server = open(UnaryOperator.identity());
    Endpoint client = open(UnaryOperator.identity());
    try (SealedFile memory = memory(1);
        SealedFile serversMemory = memory(1)) {
      Acceptor acceptor = server.listen(8);
      int id = client.newConnection();
      ClientHandshake handshake = client.connect(id, server.address(), new byte[0], memory);
      CompletableFuture<ServerHandshake> request = new CompletableFuture<>();
      CompletableFuture<Void> connecting =
          CompletableFuture.runAsync(
              () ->
                  handshake.confirm(
                      handshake.await(
                          NAME,
                          soon(),
                          answer -> isAnotherServed(request.join(), server, client, acceptor))),
              task -> Thread.ofPlatform().daemon().start(task));
      ServerHandshake taken = acceptor.next(soon());
      assertThat(taken).isNotNull();
      taken.take(NAME);
      request.complete(taken);
      taken.accept(
          new ServerHandshake.Acceptance(
              NAME, server.newConnection(), new byte[0], serversMemory, soon(), () -> false));
      connecting.get(90, TimeUnit.SECONDS);
    } finally {
      client.release();
      server.release();
    }
  }

  private boolean isAnotherServed(
      ServerHandshake request, Endpoint server, Endpoint client, Acceptor acceptor) {
    while (request.retransmissions() < 2) {
      Thread.onSpinWait(); // the client's endpoint has received the answer twice by now
    }
    try {
      return shakeHands(server, client, acceptor, 2).server() != request;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void shouldForgetAClientThatGaveUpAfterItsRequestWasTaken() throws Exception {
    Endpoint server = open(UnaryOperator.identity());
    Endpoint client = open(UnaryOperator.identity());
    try {
      Acceptor acceptor = server.listen(8);
      List<WeakReference<ServerHandshake>> requests = new ArrayList<>();
      for (int i = 1; i <= 5; i++) {
        int id = client.newConnection();
        ClientHandshake handshake = client.connect(id, server.address(), new byte[0], memory(i));
        CompletableFuture<Void> connecting =
            CompletableFuture.runAsync(
                () -> handshake.await(NAME, System.nanoTime() + 20_000_000L, answer -> true),
                task -> Thread.ofPlatform().daemon().start(task));
        requests.add(new WeakReference<>(acceptor.next(soon())));
        assertThatThrownBy(connecting::join).cause().isInstanceOf(OperationTimeoutException.class);
        handshake.close();
        client.removeConnection(id);
      }
      long deadline = soon();
      while (!requests.stream().allMatch(request -> request.refersTo(null))) {
        assertThat(deadline - System.nanoTime()).as("time to forget").isPositive();
        System.gc();
      }
    } finally {
      client.release();
      server.release();
    }
  }

  /** Drops the first cancellations, as a full socket of the listener does. */
  private static UnaryOperator<DatagramSender> withoutCancellations(int first) {
    AtomicInteger left = new AtomicInteger(first);
    return socket ->
        (datagram, file, to) ->
            HandshakeMessage.decode(datagram).orElseThrow().type() == Type.CANCEL
                    && left.getAndDecrement() > 0
                ? -Errno.EAGAIN
                : socket.send(datagram, file, to);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldNotWaitForAClientWhoseCancellationWasLost(boolean isRemoved) throws Exception {
    Endpoint server = open(UnaryOperator.identity());
    Endpoint client = open(withoutCancellations(1));
    try (SealedFile memory = memory(1);
        SealedFile serversMemory = memory(1)) {
      Acceptor acceptor = server.listen(8);
      int id = client.newConnection();
      ClientHandshake handshake = client.connect(id, server.address(), new byte[0], memory);
      assertThatThrownBy(() -> handshake.await(NAME, System.nanoTime(), answer -> true))
          .isInstanceOf(OperationTimeoutException.class);
      handshake.close();
      if (isRemoved) {
        client.removeConnection(id);
      }
      ServerHandshake request = acceptor.next(soon());
      assertThat(request).isNotNull();
      request.take(NAME);
      int serverId = server.newConnection();
      assertThatThrownBy(() ->
              request.accept(
                  new ServerHandshake.Acceptance(
                      NAME, serverId, new byte[0], serversMemory, soon(), () -> false)))
          .isInstanceOf(ConnectionClosedException.class)
          .hasMessageContaining("stopped waiting");
    } finally {
      client.release();
      server.release();
    }
  }

  /** The client's confirmation was lost, and it repeats none for a closed connection. */
  @Test
  void shouldAcceptAClientThatUsedTheConnectionAndClosedIt() throws Exception {
    Endpoint server = open(UnaryOperator.identity());
    Endpoint client = open(UnaryOperator.identity());
    try (SealedFile memory = memory(1);
        SealedFile serversMemory = memory(1)) {
      Acceptor acceptor = server.listen(8);
      client.send(new HandshakeMessage(Type.CONNECT, 1, 0, new byte[0]), memory, server.address());
      ServerHandshake request = acceptor.next(soon());
      assertThat(request).isNotNull();
      request.take(NAME);
      request.accept(
          new ServerHandshake.Acceptance(
              NAME, server.newConnection(), new byte[0], serversMemory, soon(), () -> true));
      assertThat(request.isConfirmed()).isTrue();
      assertThat(request.retransmissions()).isZero();
    } finally {
      client.release();
      server.release();
    }
  }

  /** A poll that can be stopped, until it is woken. */
  private static final class Stoppable extends EventPoll {
    private boolean stopping;
    private boolean stopped;

    @Override
    public int await(int timeoutMillis) {
      synchronized (this) {
        try {
          while (stopping) {
            stopped = true;
            notifyAll();
            wait();
          }
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
        stopped = false;
      }
      return super.await(timeoutMillis);
    }

    @Override
    public void wake() {
      super.wake();
      synchronized (this) {
        stopping = false;
        notifyAll();
      }
    }

    synchronized void stop() throws InterruptedException {
      super.wake();
      stopping = true;
      while (!stopped) {
        wait();
      }
    }

    synchronized boolean isStopped() {
      return stopped;
    }
  }

  private static void connect(Endpoint client, int id, SealedFile memory, Endpoint server) {
    client.send(new HandshakeMessage(Type.CONNECT, id, 0, new byte[0]), memory, server.address());
  }

  private static int offerNext(Acceptor acceptor, Endpoint server, SealedFile serversMemory)
      throws Exception {
    ServerHandshake request = acceptor.nextToAccept(soon());
    assertThat(request).isNotNull();
    request.take(NAME);
    int id = server.newConnection();
    request.offer(
        new ServerHandshake.Acceptance(NAME, id, new byte[0], serversMemory, soon(), () -> false),
        () -> {});
    return id;
  }

  /**
   * The confirmation has arrived; the thread that reads it continues after the one that accepts.
   */
  @Test
  void shouldTakeAConfirmationThatArrivedWhileTheListenerWasStopped() throws Exception {
    Stoppable poll = new Stoppable();
    Endpoint server =
        Endpoint.open(
            new SmAddress(directory, null), Access.USER, UnaryOperator.identity(), () -> poll);
    assertThat(server).isNotNull();
    Endpoint client = open(withoutCancellations(Integer.MAX_VALUE));
    try (SealedFile memory = memory(1);
        SealedFile serversMemory = memory(1)) {
      Acceptor acceptor = server.listen(8);
      int[] ids = new int[Offers.MAX_OFFERED];
      for (int i = 0; i < ids.length; i++) {
        acceptor.beginAccepting();
        connect(client, i + 1, memory, server);
        ids[i] = offerNext(acceptor, server, serversMemory);
      }
      connect(client, ids.length + 1, memory, server);
      while (!acceptor.hasClient()) {
        Thread.onSpinWait();
      }
      poll.stop();
      client.send(new HandshakeMessage(Type.ACK, 1, ids[0], new byte[0]), server.address());

      ServerHandshake next = acceptor.nextToAccept(soon());
      assertThat(next).isNotNull();
      assertThat(next.clientId()).isOne();
      assertThat(next.isConfirmed()).isTrue();
    } finally {
      client.release();
      server.release();
    }
  }

  @Test
  void shouldKeepAClientThatConfirmedWhileTheListenerWasStoppedIfRoomIsNeeded() throws Exception {
    Stoppable poll = new Stoppable();
    Endpoint server =
        Endpoint.open(
            new SmAddress(directory, null), Access.USER, UnaryOperator.identity(), () -> poll);
    assertThat(server).isNotNull();
    Endpoint client = open(withoutCancellations(Integer.MAX_VALUE));
    try (SealedFile memory = memory(1);
        SealedFile serversMemory = memory(1)) {
      Acceptor acceptor = server.listen(8);
      acceptor.beginAccepting();
      connect(client, 1, memory, server);
      int id = offerNext(acceptor, server, serversMemory);
      poll.stop();
      client.send(new HandshakeMessage(Type.ACK, 1, id, new byte[0]), server.address());

      boolean withdrawn = false;
      while (poll.isStopped() && !withdrawn) {
        withdrawn = acceptor.withdrawOverdue();
      }
      assertThat(withdrawn).isFalse();
      ServerHandshake next = acceptor.nextToAccept(soon());
      assertThat(next).isNotNull();
      assertThat(next.isConfirmed()).isTrue();
    } finally {
      client.release();
      server.release();
    }
  }

  @Test
  void shouldNotTakeARepeatedRequestForANewOne() throws Exception {
    UnaryOperator<DatagramSender> threeTimes =
        socket ->
            (datagram, file, to) -> {
              socket.send(datagram, file, to);
              socket.send(datagram, file, to);
              return socket.send(datagram, file, to);
            };
    Endpoint server = open(threeTimes);
    Endpoint client = open(threeTimes);
    try {
      Acceptor acceptor = server.listen(8);
      for (int i = 1; i <= 20; i++) {
        shakeHands(server, client, acceptor, i);
      }
      assertThat(acceptor.next(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(100)))
          .as("every request is returned once")
          .isNull();
    } finally {
      client.release();
      server.release();
    }
  }

  @Test
  void shouldWorkWhateverIsLostRepeatedAndReordered() throws Exception {
    class Disturbing implements UnaryOperator<DatagramSender> {
      private final Random random = new Random(42);
      private final List<Runnable> late = new ArrayList<>();

      @Override
      public DatagramSender apply(DatagramSender socket) {
        return (datagram, file, to) -> {
          synchronized (late) {
            switch (random.nextInt(4)) {
              case 0 -> late.add(() -> socket.send(datagram, file, to));
              case 1 -> {
                socket.send(datagram, file, to);
                socket.send(datagram, file, to);
              }
              case 2 -> {
                socket.send(datagram, file, to);
                late.forEach(Runnable::run); // behind those that were sent after them
                late.clear();
              }
              default -> {} // lost
            }
          }
          return 0;
        };
      }
    }

    Disturbing disturbing = new Disturbing();
    Endpoint server = open(disturbing);
    Endpoint client = open(disturbing);
    try {
      Acceptor acceptor = server.listen(8);
      for (int i = 1; i <= 20; i++) {
        shakeHands(server, client, acceptor, i);
      }
    } finally {
      client.release();
      server.release();
    }
  }

  @Test
  void shouldDistinguishARestartedClientByTheGenerationOfItsRing() throws Exception {
    Endpoint server = open(UnaryOperator.identity());
    try {
      Acceptor acceptor = server.listen(8);
      SmAddress.Id id = new SmAddress.Id(1, 1); // the first process of a container, twice
      for (long generation = 100; generation < 103; generation++) {
        Endpoint client = Endpoint.open(server.address().with(id), Access.USER);
        assertThat(client).isNotNull();
        try (SealedFile memory = memory(generation)) {
          HandshakeMessage connect = new HandshakeMessage(Type.CONNECT, 1, 0, new byte[0]);
          client.send(connect, memory, server.address());
          client.send(connect, memory, server.address());
          ServerHandshake request = acceptor.next(soon());
          assertThat(request).isNotNull();
          assertThat(request.generation()).isEqualTo(generation);
        } finally {
          client.release();
        }
      }
      assertThat(acceptor.next(System.nanoTime())).isNull();
    } finally {
      server.release();
    }
  }

  @Test
  void shouldQueueNoMoreClientsThanTheBacklogAndAcceptTheOthersLater() throws Exception {
    Endpoint server = open(UnaryOperator.identity());
    Endpoint client = open(UnaryOperator.identity());
    try {
      Acceptor acceptor = server.listen(2);
      for (int id = 1; id <= 3; id++) {
        client.send(
            new HandshakeMessage(Type.CONNECT, id, 0, new byte[0]), memory(id), server.address());
      }
      assertThat(acceptor.next(soon())).isNotNull();
      ServerHandshake second = acceptor.next(soon());
      assertThat(second).isNotNull();
      assertThat(second.clientId()).isEqualTo(2);
      client.send(
          new HandshakeMessage(Type.CONNECT, 3, 0, new byte[0]), memory(3), server.address());
      assertThat(acceptor.next(soon())).isNotNull();
    } finally {
      client.release();
      server.release();
    }
  }
}
