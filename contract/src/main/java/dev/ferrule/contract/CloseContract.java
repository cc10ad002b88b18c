// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionState;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.Listener;
import dev.ferrule.MessageHandler;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.logging.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The end of a connection: no sent message is lost, no lent memory can be accessed, no call hangs.
 */
public abstract class CloseContract extends Contract {

  /** The number of closes that overlap each kind of first call; larger for a soak. */
  private static final String CLOSES_PROPERTY = "ferrule.soak.closes";

  private static final MessageStream STREAM = MessageStream.ofRandomLengths(1, KIB);

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected CloseContract(ProviderUnderTest provider) {
    super(provider);
  }

  @ParameterizedTest
  @EnumSource
  void thePeerReceivesAllSentMessagesAndThenTheEndOfStream(NumberedReceiver.Way way) {
    Pair pair = connectWithPatientClose();
    long sent = sendUntilBackPressure(pair.client().sender(), STREAM, 0);

    pair.client().close();

    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);
    receiver.receiveUpTo(sent, way);
    assertEndOfStream(() -> receiver.receive(way));
    assertEveryMethodReportsThePeersClose(pair.server());
  }

  @Test
  void thePeerReceivesAllMessagesOfABusySender() {
    for (int round = 0; round < 20; round++) {
      Pair pair = connectWithPatientClose();
      int messages = 2_000;
      Background<Boolean> sending =
          inBackground(
              "sender",
              () -> {
                NumberedSender sender = new NumberedSender(pair.client(), STREAM, KIB);
                while (sender.count() < messages) {
                  sender.send(NumberedSender.Way.CLAIM);
                }
                pair.client().close();
              });
      NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);
      receiver.receiveUpTo(messages, NumberedReceiver.Way.RECEIVE);
      assertEndOfStream(() -> pair.server().receiver().receive());
      sending.result();
    }
  }

  @Test
  void messagesCanBeReceivedAndHeldAfterThePeerClosed() {
    Pair pair = connectWithPatientClose();
    NumberedSender sender = new NumberedSender(pair.client(), STREAM, KIB);
    for (int i = 0; i < 10; i++) {
      sender.send(NumberedSender.Way.CLAIM);
    }
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);
    ReceiveRegion before = receiver.hold(NumberedReceiver.Way.RECEIVE);

    pair.client().close();
    awaitPeersClose(pair.server());

    ReceiveRegion after = receiver.hold(NumberedReceiver.Way.RECEIVE);
    receiver.receiveUpTo(10, NumberedReceiver.Way.RECEIVE);
    STREAM.verify(before.segment(), 0, before.length(), 0);
    STREAM.verify(after.segment(), 0, after.length(), 1);
    pair.server().receiver().free(after);
    pair.server().receiver().free(before);
  }

  @Test
  void aMessageStaysValidInItsHandlerWhileAnotherThreadCloses() throws Exception {
    Pair pair = connect();
    pair.client().sender().send(MemorySegment.ofArray(new byte[] {1, 2, 3, 4, 5, 6, 7, 8}));
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    AtomicReference<byte[]> read = new AtomicReference<>(new byte[0]);
    Background<Boolean> polling =
        inBackground(
            "receiver",
            () -> {
              Receiver receiver = pair.server().receiver();
              MessageHandler handler =
                  (memory, offset, length) -> {
                    reading.countDown();
                    awaitUninterruptibly(closed);
                    read.set(memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE));
                  };
              while (receiver.poll(handler, 1) == 0) {
                Thread.onSpinWait();
              }
              assertThat(Thread.interrupted()).as("an unexpected interrupt").isFalse();
            });
    reading.await();

    pair.server().close();
    closed.countDown();

    polling.result();
    assertThat(read.get()).containsExactly(1, 2, 3, 4, 5, 6, 7, 8);
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void nothingCanBeSentToAPeerThatHasClosed() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    RegisteredMemory registered = pair.client().register(Arena.ofAuto().allocate(10));
    SendRegion first = sender.claim(10);
    SendRegion second = sender.claim(10);
    SendRegion third = sender.claim(10);

    pair.server().close();
    awaitPeersClose(pair.client());

    assertClosedByPeer(() -> sender.claim(1));
    assertClosedByPeer(() -> sender.claim(1, PATIENCE));
    assertClosedByPeer(() -> sender.tryClaim(1));
    assertClosedByPeer(() -> first.commit());
    assertClosedByPeer(() -> second.commit(1));
    assertClosedByPeer(() -> sender.sendRegistered(registered, 0, 10));
    assertClosedByPeer(() -> sender.send(MemorySegment.ofArray(new byte[1])));
    third.abort();
  }

  @Test
  void everyMethodThrowsAfterTheOwnClose() {
    Pair pair = connect();
    Connection connection = pair.client();
    Sender sender = connection.sender();
    Receiver receiver = connection.receiver();
    pair.server().sender().send(MemorySegment.ofArray(new byte[5]));
    pair.server().sender().send(MemorySegment.ofArray(new byte[6]));
    ReceiveRegion message = receiver.receive(PATIENCE);
    RegisteredMemory registered = connection.register(Arena.ofAuto().allocate(10));
    SendRegion first = sender.claim(10);
    SendRegion second = sender.claim(10);
    SendRegion third = sender.claim(10);

    connection.close();

    assertClosed(() -> sender.claim(1));
    assertClosed(() -> sender.claim(1, PATIENCE));
    assertClosed(() -> sender.claim(1, Duration.ZERO));
    assertClosed(() -> sender.tryClaim(1));
    assertClosed(() -> first.commit());
    assertClosed(() -> second.commit(1));
    assertClosed(() -> sender.sendRegistered(registered, 0, 10));
    assertClosed(() -> sender.send(MemorySegment.ofArray(new byte[1])));
    assertClosed(() -> sender.send(MemorySegment.ofArray(new byte[1]), 0, 1));
    assertClosed(() -> third.stage());
    assertClosed(() -> third.stage(1));
    assertClosed(receiver::receive);
    assertClosed(() -> receiver.receive(PATIENCE));
    assertClosed(() -> receiver.receive(Duration.ZERO));
    assertClosed(receiver::tryReceive);
    assertClosed(() -> receiver.poll((buffer, offset, length) -> {}, 10));
    assertClosed(() -> connection.register(Arena.ofAuto().allocate(10)));
    third.abort();
    receiver.free(message);
    registered.close();
    assertThat(connection.sender()).isSameAs(sender);
    assertThat(connection.receiver()).isSameAs(receiver);
    assertThat(sender.maxMessage()).isPositive();
    assertThat(connection.uri()).isNotNull();
    assertThat(connection.peerPayload()).isEmpty();
    assertThat(connection.counters().messagesReceived()).isEqualTo(1);
  }

  @Test
  void lentRegionsThrowAfterTheCloseAndSegmentsKeptFromThemCrashNothing() {
    Pair pair = connect();
    Connection connection = pair.client();
    pair.server().sender().send(MemorySegment.ofArray(new byte[100]));
    pair.server().sender().send(MemorySegment.ofArray(new byte[100]));
    AtomicReference<MemorySegment> handed = new AtomicReference<>();
    ReceiveRegion message = connection.receiver().receive(PATIENCE);
    eventually(
        "the second message is polled",
        () -> connection.receiver().poll((buffer, offset, length) -> handed.set(buffer), 1) == 1);
    SendRegion region = connection.sender().claim(100);
    List<MemorySegment> kept =
        List.of(
            message.segment(), message.buffer(), region.segment(), region.buffer(), handed.get());

    connection.close();

    assertClosed(message::segment);
    assertClosed(message::buffer);
    assertClosed(region::segment);
    assertClosed(region::buffer);
    for (MemorySegment segment : kept) {
      accessAfterClose(() -> segment.toArray(ValueLayout.JAVA_BYTE));
      if (!segment.isReadOnly()) {
        accessAfterClose(() -> segment.set(ValueLayout.JAVA_BYTE, 0, (byte) 1));
      }
    }
  }

  /**
   * Accesses memory after the close. The memory may exist while a segment is reachable, or the
   * access may throw.
   */
  private static void accessAfterClose(Runnable access) {
    try {
      access.run();
    } catch (IllegalStateException e) {
      assertThat(e).hasMessageContaining("Already closed");
    }
  }

  @Test
  void aThreadThatReadsLentMemoryDuringAndAfterTheCloseDoesNotCrash() {
    for (int round = 0; round < 30; round++) {
      Pair pair = connect();
      pair.client().sender().send(MemorySegment.ofArray(STREAM.bytes(0)));
      pair.client().sender().send(MemorySegment.ofArray(new byte[1_000]));
      pair.server().receiver().receive(PATIENCE);
      MemorySegment segment = pair.server().receiver().receive(PATIENCE).segment();
      AtomicInteger reads = new AtomicInteger();
      AtomicBoolean closed = new AtomicBoolean();
      Background<Boolean> reading =
          inBackground(
              "reader",
              () ->
                  accessAfterClose(() -> {
                    for (int after = 0; after < 100; after += closed.get() ? 1 : 0) {
                      assertThat(sum(segment)).isZero();
                      reads.incrementAndGet();
                    }
                  }));
      eventually("the reader reads", () -> reads.get() > 100);

      pair.server().close();
      closed.set(true);

      reading.result();
    }
  }

  /**
   * The hot paths of a provider may use raw addresses. A close from another thread must not unmap
   * the memory that they access.
   */
  @ParameterizedTest
  @EnumSource
  void closingWhileBothHalvesAreBusyEndsThemAndNeverCrashes(WaitStrategy strategy) {
    int rounds = Math.max(8, provider.messages(60_000) / 1000);
    for (int round = 0; round < rounds; round++) {
      Pair pair = connect(options().set(StandardOptions.WAIT, strategy));
      AtomicInteger received = new AtomicInteger();
      int wayToSend = round % 4;
      int wayToReceive = round / 4 % 3;
      Background<Boolean> sending =
          inBackground("sender", () -> sendUntilClosed(pair.client(), wayToSend));
      Background<Boolean> receiving =
          inBackground("receiver", () -> receiveUntilClosed(pair.server(), wayToReceive, received));
      int enough = 200 + 37 * round;
      eventually("messages are being received", () -> received.get() > enough);

      (round % 2 == 0 ? pair.client() : pair.server()).close();

      sending.result();
      receiving.result();
      pair.client().close();
      pair.server().close();
    }
  }

  /**
   * The JVM interrupts a thread that accesses memory of a shared arena which another thread closes.
   * A program's threads must not be affected when a provider closes its own memory.
   */
  @ParameterizedTest
  @EnumSource
  void closingFromAnotherThreadInterruptsNoThread(WaitStrategy strategy) {
    MemorySegment source = Arena.ofAuto().allocate(200);
    int rounds = Math.max(8, provider.messages(60_000) / 1000);
    for (int round = 0; round < rounds; round++) {
      Pair pair = connect(options().set(StandardOptions.WAIT, strategy));
      AtomicInteger received = new AtomicInteger();
      boolean poll = round % 2 == 0;
      Background<Boolean> sending =
          inBackground(
              "sender", () -> assertEndsUninterrupted(() -> pair.client().sender().send(source)));
      Background<Boolean> receiving =
          inBackground(
              "receiver",
              () ->
                  assertEndsUninterrupted(() -> {
                    Receiver receiver = pair.server().receiver();
                    if (poll) {
                      received.addAndGet(receiver.poll((buffer, offset, length) -> {}, 16));
                    } else {
                      receiver.free(receiver.receive());
                      received.incrementAndGet();
                    }
                  }));
      int enough = 200 + 37 * round;
      eventually("messages are being received", () -> received.get() > enough);

      (round % 4 < 2 ? pair.client() : pair.server()).close();

      sending.result();
      receiving.result();
      pair.client().close();
      pair.server().close();
    }
  }

  /** Ways to receive or claim. */
  enum FirstCall {
    RECEIVE {
      @Override
      void on(Connection connection) {
        connection.receiver().receive().close();
      }
    },
    TRY_RECEIVE {
      @Override
      void on(Connection connection) {
        ReceiveRegion message = connection.receiver().tryReceive();
        if (message != null) {
          message.close();
        }
      }
    },
    POLL {
      @Override
      void on(Connection connection) {
        connection.receiver().poll((buffer, offset, length) -> {}, 1);
      }
    },
    CLAIM {
      @Override
      void on(Connection connection) {
        connection.sender().claim(8).abort();
      }
    },
    TRY_CLAIM_OF_SEVERAL {
      @Override
      void on(Connection connection) {
        SendRegion first = connection.sender().tryClaim(8);
        SendRegion second = connection.sender().tryClaim(300);
        for (SendRegion region : new SendRegion[] {first, second}) {
          if (region != null) {
            region.abort();
          }
        }
      }
    };

    abstract void on(Connection connection);
  }

  /** The first call of a connection may allocate what later ones use. */
  @ParameterizedTest
  @EnumSource
  void aFirstCallMayOverlapACloseByAnotherThread(FirstCall call) {
    int rounds =
        Integer.getInteger(CLOSES_PROPERTY, Math.max(8, provider.messages(60_000) / 1_500));
    Listener listener = listen();
    ClosingMoment moment = new ClosingMoment();
    for (int round = 0; round < rounds; round++) {
      Pair pair = connectTo(listener, provider.options());
      pair.client().sender().send(MemorySegment.ofArray(new byte[8]));
      AtomicInteger calls = new AtomicInteger(-1);
      Background<Boolean> calling =
          inBackground(
              "caller",
              () ->
                  assertEndsUninterrupted(() -> {
                    calls.incrementAndGet();
                    call.on(pair.server());
                  }));
      while (calls.get() < 0) {
        Thread.onSpinWait();
      }
      moment.await(() -> calls.get() > 0);

      pair.server().close();

      calling.result();
      pair.client().close();
    }
  }

  @Test
  void bothSidesMayCloseAtOnce() {
    Listener listener = listen();
    for (int round = 0; round < 100; round++) {
      Pair pair = connectTo(listener, provider.options());
      pair.client().sender().send(MemorySegment.ofArray(new byte[10]));
      CountDownLatch go = new CountDownLatch(1);
      Background<Boolean> closing =
          inBackground(
              "closer",
              () -> {
                go.await();
                pair.client().close();
              });
      go.countDown();
      pair.server().close();
      closing.result();
      assertThat(pair.client().state())
          .isIn(ConnectionState.CLOSED, ConnectionState.CLOSED_BY_PEER);
      assertThat(pair.server().state())
          .isIn(ConnectionState.CLOSED, ConnectionState.CLOSED_BY_PEER);
      assertThat(pair.client().failure()).isNull();
      assertThat(pair.server().failure()).isNull();
    }
  }

  @Test
  void manyThreadsMayCloseAtOnce() {
    for (int round = 0; round < 30; round++) {
      Pair pair = connect();
      AtomicInteger called = new AtomicInteger();
      pair.client().onClose(connection -> called.incrementAndGet());
      CountDownLatch go = new CountDownLatch(1);
      List<Background<Boolean>> closers = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        closers.add(
            inBackground(
                "closer-" + i,
                () -> {
                  go.await();
                  pair.client().close();
                  assertThat(pair.client().state()).isEqualTo(ConnectionState.CLOSED);
                  synchronized (called) { // a sender is used by one thread at a time
                    assertClosed(() -> pair.client().sender().tryClaim(1));
                  }
                }));
      }
      go.countDown();
      closers.forEach(Background::result);
      eventually("the callback is called", () -> called.get() == 1);
      pair.server().close();
    }
  }

  @Test
  void closingTwiceDoesNothing() {
    Pair pair = connect();

    pair.client().close();
    pair.client().close();
    pair.client().close(Duration.ZERO);

    assertThat(pair.client().state()).isEqualTo(ConnectionState.CLOSED);
    assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
    pair.server().close();
    pair.server().close();
  }

  @Test
  void aConnectionIsOpenUntilItIsClosed() {
    Pair pair = connect();

    assertThat(pair.client().state()).isEqualTo(ConnectionState.OPEN);
    assertThat(pair.server().state()).isEqualTo(ConnectionState.OPEN);
    assertThat(pair.client().failure()).isNull();

    pair.client().close();

    assertThat(pair.client().state()).isEqualTo(ConnectionState.CLOSED);
    assertThat(pair.client().failure()).isNull();
    assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
    assertThat(pair.server().state()).isEqualTo(ConnectionState.CLOSED_BY_PEER);
    assertThat(pair.server().failure()).isNull();
  }

  @Test
  void theStateClosedByPeerRemainsAfterTheOwnClose() {
    Pair pair = connect();
    pair.client().close();
    awaitPeersClose(pair.server());

    pair.server().close();

    assertThat(pair.server().state()).isEqualTo(ConnectionState.CLOSED_BY_PEER);
    assertThat(pair.client().state()).isEqualTo(ConnectionState.CLOSED);
    assertThatThrownBy(() -> pair.server().receiver().receive())
        .isInstanceOf(ConnectionClosedException.class);
    assertThatThrownBy(() -> pair.server().sender().claim(1))
        .isInstanceOf(ConnectionClosedException.class);
  }

  @Test
  void closeReturnsPromptlyAlthoughThePeerReceivesNothing() {
    Pair pair = connect();
    sendUntilBackPressure(pair.client().sender(), STREAM, 0);

    long start = System.nanoTime();
    pair.client().close(Duration.ofSeconds(1));

    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(PATIENCE);
  }

  @Test
  void closeWithoutFlushDeliversAPrefixAndThenTheEndOfStream() {
    Pair pair = connect();
    long sent = sendUntilBackPressure(pair.client().sender(), STREAM, 0);

    pair.client().close(Duration.ZERO);

    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);
    assertEndOfStream(() -> {
      while (true) {
        receiver.receive(NumberedReceiver.Way.RECEIVE);
      }
    });
    assertThat(receiver.count()).isLessThanOrEqualTo(sent);
  }

  @Test
  void unsentClaimsAreDroppedByTheClose() {
    Pair pair = connectWithPatientClose();
    pair.client().sender().claim(10).segment().fill((byte) 1);
    pair.client().sender().send(MemorySegment.ofArray(new byte[20]));
    pair.client().sender().claim(30);

    pair.client().close();

    assertThat(pair.server().receiver().receive(PATIENCE).length()).isEqualTo(20);
    assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
  }

  @Test
  void theCallbackIsCalledOnceWithItsConnectionWhenThisSideCloses() {
    Pair pair = connect();
    List<Connection> called = new ArrayList<>();
    CountDownLatch latch = new CountDownLatch(1);
    pair.client()
        .onClose(connection -> {
          synchronized (called) {
            called.add(connection);
          }
          latch.countDown();
        });
    assertThat(latch.getCount()).isEqualTo(1);

    pair.client().close();
    await(latch);
    pair.client().close();
    pair.server().close();

    synchronized (called) {
      assertThat(called).containsExactly(pair.client());
    }
  }

  @Test
  void theCallbackIsCalledOnceWhenThePeerCloses() {
    Pair pair = connect();
    AtomicInteger called = new AtomicInteger();
    AtomicReference<ConnectionState> state = new AtomicReference<>();
    CountDownLatch latch = new CountDownLatch(1);
    pair.server()
        .onClose(connection -> {
          state.set(connection.state());
          called.incrementAndGet();
          latch.countDown();
        });

    pair.client().close();
    assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
    await(latch);
    pair.server().close();

    assertThat(state).hasValue(ConnectionState.CLOSED_BY_PEER);
    assertThat(called).hasValue(1);
  }

  @Test
  void everyCallbackIsCalledEvenIfAnotherOneThrows() {
    Pair pair = connect();
    CountDownLatch latch = new CountDownLatch(3);
    pair.client().onClose(connection -> latch.countDown());
    pair.client()
        .onClose(connection -> {
          latch.countDown();
          throw new IllegalThreadStateException("from a callback");
        });
    pair.client().onClose(connection -> latch.countDown());

    try (LoggedRecords logged = LoggedRecords.of(Connection.class)) {
      pair.client().close();

      await(latch);
      assertThat(logged.all())
          .singleElement()
          .satisfies(record -> {
            assertThat(record.getLevel()).isEqualTo(Level.WARNING);
            assertThat(record.getMessage()).contains(pair.client().uri().toString());
            assertThat(record.getThrown()).isInstanceOf(IllegalThreadStateException.class);
          });
    }
  }

  @Test
  void aCallbackRegisteredAfterTheCloseIsCalledAtOnce() {
    Pair pair = connect();
    pair.client().close();
    assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
    CountDownLatch latch = new CountDownLatch(3);

    pair.client().onClose(connection -> latch.countDown());
    pair.server().onClose(connection -> latch.countDown());
    pair.server().close();
    pair.server().onClose(connection -> latch.countDown());

    await(latch);
  }

  @Test
  void aCallbackThatIsRemovedIsNotCalled() {
    Pair pair = connect();
    AtomicInteger called = new AtomicInteger();
    CountDownLatch latch = new CountDownLatch(1);
    Consumer<Connection> counting = connection -> called.incrementAndGet();
    Consumer<Connection> last = connection -> latch.countDown();
    pair.client().onClose(counting);
    pair.client().onClose(counting);
    pair.client().onClose(last);

    assertThat(pair.client().removeOnClose(counting)).isTrue();
    assertThat(pair.client().removeOnClose(connection -> {})).isFalse();
    pair.client().close();

    await(latch);
    assertThat(called).hasValue(1);
    assertThat(pair.client().removeOnClose(counting)).as("removed after it has run").isFalse();
  }

  @Test
  void theStageOfTheEndCompletesWithTheStateOfEachSide() {
    Pair pair = connect();
    CompletionStage<ConnectionState> client = pair.client().closed();
    CompletionStage<ConnectionState> server = pair.server().closed();
    assertThat(pair.client().closed() == client).isTrue();
    assertThat(client.toCompletableFuture()).isNotDone();
    client.toCompletableFuture().complete(ConnectionState.FAILED); // of a copy

    pair.client().close();

    assertThat(client.toCompletableFuture().join()).isEqualTo(ConnectionState.CLOSED);
    assertThat(inBackground("waiting", () -> server.toCompletableFuture().join()).result())
        .isEqualTo(ConnectionState.CLOSED_BY_PEER);
    assertThat(pair.client().closed() == client).isTrue();
    Pair another = connect();
    another.client().close();
    assertThat(another.client().closed().toCompletableFuture())
        .as("requested after the end")
        .isCompletedWithValue(ConnectionState.CLOSED);
  }

  @Test
  void aCallbackMayCloseTheConnection() {
    Pair pair = connect();
    CountDownLatch latch = new CountDownLatch(2);
    pair.client()
        .onClose(connection -> {
          connection.close();
          latch.countDown();
        });
    pair.server()
        .onClose(connection -> {
          connection.close();
          latch.countDown();
        });

    pair.client().close();
    assertThatThrownBy(() -> pair.server().receiver().receive(PATIENCE))
        .isInstanceOfAny(EndOfStreamException.class, ConnectionClosedException.class);

    await(latch);
  }

  @Test
  void aCallbackThatClosesTheConnectionLosesNoSentMessages() {
    Pair pair = connectWithPatientClose();
    pair.client().onClose(Connection::close);
    MessageStream stream = MessageStream.ofLength(100);
    NumberedSender sender = new NumberedSender(pair.client(), stream, stream.length(0));
    for (int i = 0; i < 5; i++) {
      sender.send(NumberedSender.Way.COPY_FROM_HEAP);
    }

    pair.client().close();

    new NumberedReceiver(pair.server(), stream).receiveUpTo(5, NumberedReceiver.Way.RECEIVE);
    assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
  }

  @Test
  void everyMethodOfAClosedListenerThrows() {
    Listener listener = listen();

    listener.close();
    listener.close();

    assertClosed(listener::accept);
    assertClosed(() -> listener.accept(PATIENCE));
    assertClosed(() -> listener.accept(Duration.ZERO));
    assertClosed(listener::nextRequest);
    assertClosed(() -> listener.nextRequest(PATIENCE));
    assertClosed(listener::tryNextRequest);
    assertClosed(listener::tryAccept);
    assertThat(listener.uri()).isNotNull();
  }

  @Test
  void acceptedConnectionsOutliveTheirListener() {
    Listener listener = listen();
    Pair pair = connectTo(listener, provider.options());

    listener.close();

    NumberedSender there = new NumberedSender(pair.client(), STREAM, KIB);
    NumberedSender back = new NumberedSender(pair.server(), STREAM, KIB);
    NumberedReceiver server = new NumberedReceiver(pair.server(), STREAM);
    NumberedReceiver client = new NumberedReceiver(pair.client(), STREAM);
    for (int i = 0; i < 1_000; i++) {
      there.send(NumberedSender.Way.CLAIM);
      server.receive(NumberedReceiver.Way.RECEIVE);
      back.send(NumberedSender.Way.CLAIM);
      client.receive(NumberedReceiver.Way.RECEIVE);
    }
    pair.client().close();
    assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void closingOneConnectionLeavesTheOthersAlone(boolean clientCloses) {
    Listener listener = listen();
    Pair closed = connectTo(listener, provider.options());
    Pair alive = connectTo(listener, provider.options());

    (clientCloses ? closed.client() : closed.server()).close();
    assertEndOfStream(
        () -> (clientCloses ? closed.server() : closed.client()).receiver().receive(PATIENCE));

    alive.client().sender().send(MemorySegment.ofArray(new byte[3]));
    assertThat(alive.server().receiver().receive(PATIENCE).length()).isEqualTo(3);
    Pair another = connectTo(listener, provider.options());
    another.server().sender().send(MemorySegment.ofArray(new byte[4]));
    assertThat(another.client().receiver().receive(PATIENCE).length()).isEqualTo(4);
  }

  /** Connects so that a close waits as long as necessary for messages that are in flight. */
  private Pair connectWithPatientClose() {
    return connect(options().set(StandardOptions.CLOSE_TIMEOUT, PATIENCE));
  }

  private static void assertEndsUninterrupted(Runnable step) {
    assertThatThrownBy(
            () -> {
              while (true) {
                step.run();
              }
            })
        .isInstanceOfAny(ConnectionClosedException.class, EndOfStreamException.class);
    assertThat(Thread.interrupted()).as("the thread's interrupt flag").isFalse();
  }

  private static void assertEveryMethodReportsThePeersClose(Connection connection) {
    Receiver receiver = connection.receiver();
    assertEndOfStream(receiver::receive);
    assertEndOfStream(() -> receiver.receive(PATIENCE));
    assertEndOfStream(() -> receiver.receive(Duration.ZERO));
    assertEndOfStream(receiver::tryReceive);
    assertEndOfStream(() -> receiver.poll((buffer, offset, length) -> {}, 1));
    assertThat(connection.state()).isEqualTo(ConnectionState.CLOSED_BY_PEER);
    assertThat(connection.failure()).isNull();
  }

  private static void sendUntilClosed(Connection connection, int way) {
    Sender sender = connection.sender();
    MemorySegment source = Arena.ofAuto().allocate(200);
    assertThatThrownBy(
            () -> {
              while (true) {
                switch (way) {
                  case 0:
                    sender.send(source);
                    break;
                  case 1:
                    written(sender.claim(200)).commit();
                    break;
                  case 2:
                    SendRegion region = sender.tryClaim(20);
                    if (region != null) {
                      written(region).commit();
                    }
                    break;
                  default:
                    written(sender.claim(100)).stage();
                    if (sender.staged() == 8) {
                      sender.flush();
                    }
                }
              }
            })
        .isInstanceOf(ConnectionClosedException.class);
  }

  private static void receiveUntilClosed(Connection connection, int way, AtomicInteger received) {
    Receiver receiver = connection.receiver();
    assertThatThrownBy(
            () -> {
              while (true) {
                switch (way) {
                  case 0:
                    ReceiveRegion waited = receiver.receive();
                    read(waited);
                    receiver.free(waited);
                    received.incrementAndGet();
                    break;
                  case 1:
                    ReceiveRegion tried = receiver.tryReceive();
                    if (tried != null) {
                      read(tried);
                      receiver.free(tried);
                      received.incrementAndGet();
                    }
                    break;
                  default:
                    received.addAndGet(receiver.poll((buffer, offset, length) -> {}, 16));
                }
              }
            })
        .isInstanceOfAny(ConnectionClosedException.class, EndOfStreamException.class);
  }

  /**
   * Writes to a region whose connection may be closed, in which case the writer gets an exception.
   */
  private static SendRegion written(SendRegion region) {
    try {
      region.segment().fill((byte) 1);
    } catch (IllegalStateException e) {
      // the connection was closed concurrently; the send reports it
    }
    return region;
  }

  private static void read(ReceiveRegion message) {
    try {
      sum(message.segment());
    } catch (IllegalStateException e) {
      // as above
    }
  }

  private static long sum(MemorySegment segment) {
    long sum = 0;
    for (long i = 0; i < segment.byteSize(); i++) {
      sum += segment.get(ValueLayout.JAVA_BYTE, i);
    }
    return sum;
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).as("called in time").isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
