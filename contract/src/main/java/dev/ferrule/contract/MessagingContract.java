// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Listener;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Messages arrive whole, once, unchanged and in order, however they are sent and received. */
public abstract class MessagingContract extends Contract {

  private static final int LONGEST = 4 * KIB;

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected MessagingContract(ProviderUnderTest provider) {
    super(provider);
  }

  @Test
  void messagesArriveInTheOrderInWhichTheyWereSent() {
    Pair pair = connect(options().set(StandardOptions.MAX_MESSAGE, (long) LONGEST));
    MessageStream stream = MessageStream.ofRandomLengths(1, LONGEST);
    int messages = provider.messages(150_000);

    Background<Boolean> sending =
        inBackground("sender", () -> send(pair.client(), stream, messages));
    new NumberedReceiver(pair.server(), stream)
        .receiveAll(messages, NumberedReceiver.Way.RECEIVE, sending);
  }

  /** Otherwise both threads would get the same message. */
  @Test
  void aSecondThreadInReceiveFailsAndTheFirstGetsTheMessage() {
    Pair pair = connect();
    Receiver receiver = pair.server().receiver();
    Background<Integer> first = receiveInBackground(receiver);

    assertUsedByTwoThreads(receiver::receive, first);
    assertUsedByTwoThreads(receiver::tryReceive, first);
    assertUsedByTwoThreads(() -> receiver.poll((buffer, offset, length) -> {}, 1), first);

    pair.client().sender().send(MemorySegment.ofArray(new byte[3]));
    assertThat(first.result()).isEqualTo(3);
  }

  @Test
  void freeingWhileAnotherThreadReceivesFails() {
    Pair pair = connect();
    pair.client().sender().send(MemorySegment.ofArray(new byte[3]));
    Receiver receiver = pair.server().receiver();
    ReceiveRegion held = receiver.receive();
    Background<Integer> first = receiveInBackground(receiver);

    assertUsedByTwoThreads(held::close, first);
    assertUsedByTwoThreads(() -> receiver.free(held), first);

    pair.client().sender().send(MemorySegment.ofArray(new byte[4]));
    assertThat(first.result()).isEqualTo(4);
    held.close();
  }

  /** Starts a thread that receives, and waits until no other thread may use the receiver. */
  private Background<Integer> receiveInBackground(Receiver receiver) {
    Callable<Integer> call = () -> receiver.receive().length();
    AtomicReference<Background<Integer>> first =
        new AtomicReference<>(inBackground("receiver", call).awaitInside("receive"));
    eventually(
        "another thread is refused",
        () -> {
          if (first.get().isDone()) { // it was refused itself, during the call below
            assertThat(first.get().failure()).isInstanceOf(IllegalStateException.class);
            first.set(inBackground("receiver", call));
          }
          try {
            assertThat(receiver.tryReceive()).isNull();
            return false;
          } catch (IllegalStateException e) {
            return true;
          }
        });
    return first.get();
  }

  @Test
  void aSecondThreadThatUsesASenderFails() {
    while (!aSecondThreadFailsWhileTheFirstOneWaits()) {
      idle();
    }
  }

  /**
   * Returns false if the first thread's call did not wait long enough, because the transport has
   * reported more space.
   */
  private boolean aSecondThreadFailsWhileTheFirstOneWaits() {
    MessageStream stream = MessageStream.ofLength(1_000);
    Pair pair = connect(options().set(StandardOptions.MAX_MESSAGE, (long) LONGEST));
    Sender sender = pair.client().sender();
    SendRegion region = sender.claim(stream.length(0));
    long sent = sendUntilBackPressure(sender, stream, 0);
    long stalls = pair.client().counters().backPressureStalls();
    Callable<SendRegion> call = () -> sender.claim(stream.length(0));
    Background<SendRegion> first = inBackground("sender", call);
    eventually(
        "the claim finds space or none",
        () -> first.isDone() || pair.client().counters().backPressureStalls() > stalls);

    try {
      assertUsedByTwoThreads(() -> sender.tryClaim(1), first);
      assertUsedByTwoThreads(() -> sender.send(MemorySegment.ofArray(new byte[1])), first);
      assertUsedByTwoThreads(() -> region.commit(), first);
      assertUsedByTwoThreads(region::abort, first);
    } catch (AssertionError e) {
      if (first.endsWithin(PATIENCE)) {
        return false;
      }
      throw e;
    }

    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    receiver.receiveUpTo(sent, NumberedReceiver.Way.RECEIVE);
    first.result().abort();
    region.abort();
    return true;
  }

  private static void assertUsedByTwoThreads(ThrowingCallable call, Background<?> first) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll(first.thread().getName(), Thread.currentThread().getName());
  }

  @Test
  void everyWayToSendAndEveryWayToReceiveKeepTheSameOrder() {
    Pair pair = connect(options().set(StandardOptions.MAX_MESSAGE, (long) LONGEST));
    MessageStream stream = MessageStream.ofRandomLengths(2, LONGEST);
    int messages = provider.messages(100_000);

    Background<Boolean> sending =
        inBackground(
            "sender",
            () -> {
              SplittableRandom random = new SplittableRandom(3);
              NumberedSender sender = new NumberedSender(pair.client(), stream, LONGEST);
              NumberedSender.Way[] ways = NumberedSender.Way.values();
              while (sender.count() < messages) {
                if (random.nextInt(16) == 0) {
                  pair.client().sender().claim(random.nextInt(LONGEST)).abort();
                }
                sender.send(ways[random.nextInt(ways.length)]);
              }
              pair.client().sender().flush();
            });
    SplittableRandom random = new SplittableRandom(4);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    NumberedReceiver.Way[] ways = NumberedReceiver.Way.values();
    while (receiver.count() < messages) {
      if (random.nextInt(8) == 0) {
        receiver.poll(1 + random.nextInt(100));
      } else {
        receiver.receive(ways[random.nextInt(ways.length)]);
      }
    }

    sending.result();
    receiver.expectNoMore();
  }

  @Test
  void bothDirectionsCarryMessagesConcurrently() {
    Pair pair = connect(options().set(StandardOptions.MAX_MESSAGE, (long) LONGEST));
    int messages = provider.messages(50_000);

    Background<Boolean> client = inBackground("client", () -> exchange(pair, messages));
    Background<Boolean> server = inBackground("server", () -> exchange(pair.reversed(), messages));

    client.result();
    server.result();
  }

  @Test
  void theSenderAndTheReceiverOfOneConnectionMayBelongToDifferentThreads() {
    Pair pair =
        connect(
            options()
                .set(StandardOptions.MAX_MESSAGE, (long) LONGEST)
                .set(StandardOptions.WAIT, WaitStrategy.BLOCK));
    MessageStream there = MessageStream.ofRandomLengths(5, LONGEST);
    MessageStream back = MessageStream.ofRandomLengths(6, LONGEST);
    int messages = provider.messages(20_000);

    List<Background<Boolean>> threads =
        List.of(
            inBackground("client-sender", () -> send(pair.client(), there, messages)),
            inBackground("server-sender", () -> send(pair.server(), back, messages)),
            inBackground("server-receiver", () -> receive(pair.server(), there, messages)),
            inBackground("client-receiver", () -> receive(pair.client(), back, messages)));

    threads.forEach(Background::result);
  }

  @Test
  void virtualThreadsMayUseAConnection() throws InterruptedException {
    Pair pair = connect(options().set(StandardOptions.MAX_MESSAGE, (long) LONGEST));
    MessageStream stream = MessageStream.ofRandomLengths(13, LONGEST);
    int messages = provider.messages(20_000);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread.UncaughtExceptionHandler handler = (thread, thrown) -> failure.set(thrown);

    Thread sending =
        Thread.ofVirtual()
            .uncaughtExceptionHandler(handler)
            .start(() -> send(pair.client(), stream, messages));
    Thread receiving =
        Thread.ofVirtual()
            .uncaughtExceptionHandler(handler)
            .start(() -> receive(pair.server(), stream, messages));

    assertThat(sending.join(PATIENCE)).as("all sent").isTrue();
    assertThat(receiving.join(PATIENCE)).as("all received").isTrue();
    assertThat(failure).hasNullValue();
  }

  @Test
  void connectionsDoNotMix() {
    Listener listener = listen();
    List<NumberedSender> senders = new ArrayList<>();
    List<NumberedReceiver> receivers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Pair pair = connectTo(listener, provider.options());
      MessageStream there = MessageStream.ofRandomLengths(10 + i, KIB);
      MessageStream back = MessageStream.ofRandomLengths(20 + i, KIB);
      senders.add(new NumberedSender(pair.client(), there, KIB));
      receivers.add(new NumberedReceiver(pair.server(), there));
      senders.add(new NumberedSender(pair.server(), back, KIB));
      receivers.add(new NumberedReceiver(pair.client(), back));
    }

    SplittableRandom random = new SplittableRandom(7);
    for (int round = 0; round < provider.messages(20_000); round++) {
      int i = random.nextInt(senders.size());
      senders.get(i).send(NumberedSender.Way.CLAIM);
      if (senders.get(i).count() - receivers.get(i).count() > random.nextInt(8)) {
        receivers.get(i).receiveUpTo(senders.get(i).count(), NumberedReceiver.Way.RECEIVE);
      }
    }
    for (int i = 0; i < senders.size(); i++) {
      receivers.get(i).receiveUpTo(senders.get(i).count(), NumberedReceiver.Way.RECEIVE);
    }
    receivers.forEach(NumberedReceiver::expectNoMore);
  }

  @Test
  void messagesSentAtOnceReachAPeerThatIsStillConnecting() {
    Listener listener = listen();
    MessageStream stream = MessageStream.ofRandomLengths(30, KIB);
    for (int round = 0; round < 50; round++) {
      Background<Connection> connecting = connectInBackground(listener, provider.options());
      try (Connection server = listener.accept(PATIENCE)) {
        NumberedSender sender = new NumberedSender(server, stream, KIB);
        sender.send(NumberedSender.Way.COPY_FROM_HEAP);
        sender.send(NumberedSender.Way.COPY_FROM_HEAP);
        new NumberedReceiver(connecting.result(), stream)
            .receiveUpTo(2, NumberedReceiver.Way.RECEIVE_WITH_TIMEOUT);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void requestsAndRepliesAlternateWithEachWaitStrategy(WaitStrategy strategy) {
    requestsAndRepliesAlternate(connect(options().set(StandardOptions.WAIT, strategy)));
  }

  @Test
  void theTwoSidesMayWaitInDifferentWays() {
    ConnectionOptions blocking = options().set(StandardOptions.WAIT, WaitStrategy.BLOCK).build();
    ConnectionOptions spinning = options().set(StandardOptions.WAIT, WaitStrategy.SPIN).build();

    requestsAndRepliesAlternate(connect(blocking, spinning));
    requestsAndRepliesAlternate(connect(spinning, blocking));
  }

  @ParameterizedTest
  @EnumSource
  void messagesWaitForALateReceiver(NumberedReceiver.Way way) {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofRandomLengths(11, KIB);
    NumberedSender sender = new NumberedSender(pair.client(), stream, KIB);
    for (int i = 0; i < 10; i++) {
      sender.send(NumberedSender.Way.CLAIM);
    }

    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    receiver.receiveUpTo(10, way);
    receiver.expectNoMore();
  }

  static Stream<MemorySegment> sources() {
    Arena arena = Arena.ofAuto();
    MemorySegment nativeMemory = arena.allocate(24, 8);
    nativeMemory.copyFrom(MemorySegment.ofArray("abcdefghijklmnopqrstuvwx".getBytes(US_ASCII)));
    return Stream.of(
        MemorySegment.ofArray("on the heap, all of it..".getBytes(US_ASCII)),
        MemorySegment.ofArray("----a slice of the heap-----".getBytes(US_ASCII)).asSlice(4, 19),
        MemorySegment.ofArray(new long[] {1, -2, Long.MAX_VALUE}),
        MemorySegment.ofArray(new char[] {'x', 'y', 'z'}),
        MemorySegment.ofArray(new double[] {Math.PI}),
        MemorySegment.ofArray(new byte[] {7, 8, 9}).asReadOnly(),
        MemorySegment.ofBuffer(ByteBuffer.allocateDirect(9).put(3, (byte) 5)),
        nativeMemory,
        nativeMemory.asSlice(1, 7),
        nativeMemory.asReadOnly(),
        MemorySegment.ofArray(new byte[0]));
  }

  @ParameterizedTest
  @MethodSource("sources")
  void sendCopiesFromAnySegment(MemorySegment source) {
    Pair pair = connect();

    pair.client().sender().send(source);

    ReceiveRegion message = pair.server().receiver().receive(PATIENCE);
    assertThat(bytes(message)).isEqualTo(source.toArray(ValueLayout.JAVA_BYTE));
  }

  @Test
  void sendCopiesFromConfinedMemory() {
    Pair pair = connect();

    try (Arena arena = Arena.ofConfined()) {
      pair.client().sender().send(arena.allocateFrom("confined"));
    }

    assertThat(pair.server().receiver().receive(PATIENCE).segment().getString(0))
        .isEqualTo("confined");
  }

  @Test
  void theSourceMayBeReusedAsSoonAsSendReturns() {
    Pair pair = connect();
    byte[] source = new byte[100];

    for (byte i = 0; i < 10; i++) {
      Arrays.fill(source, i);
      pair.client().sender().send(MemorySegment.ofArray(source));
    }

    for (byte i = 0; i < 10; i++) {
      ReceiveRegion message = pair.server().receiver().receive(PATIENCE);
      assertThat(bytes(message)).hasSize(100).containsOnly(i);
      pair.server().receiver().free(message);
    }
  }

  @Test
  void sendCopiesAPartOfASegment() {
    Pair pair = connect();
    MemorySegment source = MemorySegment.ofArray("0123456789".getBytes(US_ASCII));

    pair.client().sender().send(source, 3, 4);
    pair.client().sender().send(source, 10, 0);

    assertThat(bytes(pair.server().receiver().receive(PATIENCE)))
        .asString(US_ASCII)
        .isEqualTo("3456");
    assertThat(pair.server().receiver().receive(PATIENCE).length()).isZero();
  }

  @Test
  void sendRefusesAPartThatLiesOutsideOfTheSegment() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    MemorySegment source = MemorySegment.ofArray(new byte[10]);

    assertThatThrownBy(() -> sender.send(source, 3, 8))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> sender.send(source, 11, 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> sender.send(source, -1, 2))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> sender.send(source, 3, -1))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> sender.send(source, Long.MAX_VALUE, 8))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> sender.send(source, Long.MIN_VALUE, 8))
        .isInstanceOf(IndexOutOfBoundsException.class);

    sender.send(source, 0, 10);
    assertThat(pair.server().receiver().receive(PATIENCE).length()).isEqualTo(10);
  }

  @Test
  void anUnreadableSourceIsRefusedAndOccupiesNoSpace() {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    Arena arena = Arena.ofConfined();
    MemorySegment freed = arena.allocate(KIB);
    arena.close();
    MemorySegment ofAnotherThread =
        inBackground("owner", () -> Arena.ofConfined().allocate(KIB)).result();

    for (int i = 0; i < provider.messages(5_000); i++) {
      assertThatThrownBy(() -> sender.send(freed)).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> sender.send(ofAnotherThread))
          .isInstanceOf(WrongThreadException.class);
    }

    MessageStream stream = MessageStream.ofRandomLengths(14, LONGEST);
    send(pair.client(), stream, 5);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    receiver.receiveUpTo(5, NumberedReceiver.Way.RECEIVE);
    receiver.expectNoMore();
    assertThat(pair.client().counters().messagesSent()).isEqualTo(5);
  }

  @Test
  void aReceivedMessageIsReadOnlyAndBounded() {
    Pair pair = connect();
    pair.client().sender().send(MemorySegment.ofArray(new byte[] {1, 2, 3}));
    pair.client().sender().send(MemorySegment.ofArray(new byte[] {4, 5}));

    MemorySegment segment = pair.server().receiver().receive(PATIENCE).segment();

    assertThat(segment.isReadOnly()).isTrue();
    assertThat(segment.byteSize()).isEqualTo(3);
    assertThatThrownBy(() -> segment.get(ValueLayout.JAVA_BYTE, 3))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> segment.get(ValueLayout.JAVA_BYTE, -1))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> segment.set(ValueLayout.JAVA_BYTE, 0, (byte) 9))
        .isInstanceOf(RuntimeException.class);
    assertThat(segment.toArray(ValueLayout.JAVA_BYTE)).containsExactly(1, 2, 3);
  }

  @Test
  void aReceivedMessageIsTheSameThroughItsSegmentAndThroughItsBuffer() {
    Pair pair = connect();
    pair.client().sender().send(MemorySegment.ofArray("first".getBytes(US_ASCII)));
    pair.client().sender().send(MemorySegment.ofArray("second".getBytes(US_ASCII)));
    Receiver receiver = pair.server().receiver();

    for (String expected : List.of("first", "second")) {
      ReceiveRegion message = receiver.receive(PATIENCE);
      assertThat(message.length()).isEqualTo(expected.length());
      assertThat(message.segment().toArray(ValueLayout.JAVA_BYTE))
          .asString(US_ASCII)
          .isEqualTo(expected);
      assertThat(bytes(message)).asString(US_ASCII).isEqualTo(expected);
    }
  }

  @Test
  void aReceivedMessageNamesItsConnection() {
    Pair pair = connect();
    pair.client().sender().send(MemorySegment.ofArray(new byte[1]));

    assertThat(pair.server().receiver().receive(PATIENCE).connection()).isSameAs(pair.server());
  }

  @Test
  void anyThreadMayReadAReceivedMessage() {
    Pair pair = connect();
    pair.client().sender().send(MemorySegment.ofArray("for all".getBytes(US_ASCII)));
    ReceiveRegion message = pair.server().receiver().receive(PATIENCE);

    Background<byte[]> reading =
        inBackground("reader", () -> message.segment().toArray(ValueLayout.JAVA_BYTE));

    assertThat(reading.result()).asString(US_ASCII).isEqualTo("for all");
  }

  @Test
  void pollRespectsItsLimit() {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofLength(20);
    send(pair.client(), stream, 10);
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    receiver.receive(NumberedReceiver.Way.RECEIVE);

    while (receiver.count() < 10) {
      long before = receiver.count();
      int polled = receiver.poll(4);
      assertThat(polled).isBetween(0, 4);
      assertThat(receiver.count() - before).isEqualTo(polled);
      idle();
    }
    assertThat(receiver.poll(4)).isZero();
  }

  @Test
  void pollRefusesALimitBelowOne() {
    Receiver receiver = connect().server().receiver();

    assertThatThrownBy(() -> receiver.poll((buffer, offset, length) -> {}, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> receiver.poll((buffer, offset, length) -> {}, -1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void anExceptionFromTheHandlerPassesThroughPollAndItsMessageCountsAsReceived() {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofLength(8);
    send(pair.client(), stream, 3);
    Receiver receiver = pair.server().receiver();
    IllegalThreadStateException thrown = new IllegalThreadStateException("from the handler");

    List<Long> seen = new ArrayList<>();
    assertThatThrownBy(
            () -> {
              while (true) {
                receiver.poll(
                    (buffer, offset, length) -> {
                      seen.add(buffer.get(ValueLayout.JAVA_LONG_UNALIGNED, offset));
                      if (seen.size() == 2) {
                        throw thrown;
                      }
                    },
                    100);
                idle();
              }
            })
        .isSameAs(thrown);

    assertThat(seen).hasSize(2).doesNotHaveDuplicates();
    ReceiveRegion third = receiver.receive(PATIENCE);
    stream.verify(third.buffer(), third.offset(), third.length(), 2);
  }

  @Test
  void aHandlerThatAlwaysThrowsLeaksNoSpace() {
    Pair pair = connect();
    MessageStream stream = MessageStream.ofLength(KIB);
    Sender sender = pair.client().sender();
    int messages = provider.messages(20_000);

    for (int i = 0; i < messages; i++) {
      sender.send(MemorySegment.ofArray(stream.bytes(0)));
      boolean thrown = false;
      while (!thrown) {
        try {
          pair.server()
              .receiver()
              .poll(
                  (buffer, offset, length) -> {
                    throw new IllegalThreadStateException();
                  },
                  1);
          idle();
        } catch (IllegalThreadStateException e) {
          thrown = true;
        }
      }
    }
    assertThat(pair.server().counters().messagesReceived()).isEqualTo(messages);
  }

  @Test
  void theHalvesOfAConnectionAreAlwaysTheSameObjects() {
    Connection connection = connect().client();

    assertThat(connection.sender()).isSameAs(connection.sender());
    assertThat(connection.receiver()).isSameAs(connection.receiver());
  }

  private void requestsAndRepliesAlternate(Pair pair) {
    MessageStream requests = MessageStream.ofRandomLengths(8, KIB);
    MessageStream replies = MessageStream.ofRandomLengths(9, KIB);
    int rounds = provider.messages(10_000);

    Background<Boolean> server =
        inBackground(
            "server",
            () -> {
              NumberedSender sender = new NumberedSender(pair.server(), replies, KIB);
              NumberedReceiver receiver = new NumberedReceiver(pair.server(), requests);
              while (receiver.count() < rounds) {
                receiver.receive(NumberedReceiver.Way.RECEIVE);
                sender.send(NumberedSender.Way.CLAIM);
              }
            });
    NumberedSender sender = new NumberedSender(pair.client(), requests, KIB);
    NumberedReceiver receiver = new NumberedReceiver(pair.client(), replies);
    while (receiver.count() < rounds) {
      sender.send(NumberedSender.Way.CLAIM);
      receiver.receive(NumberedReceiver.Way.RECEIVE);
    }

    server.result();
  }

  private static void send(Connection connection, MessageStream stream, int messages) {
    NumberedSender sender = new NumberedSender(connection, stream, LONGEST);
    while (sender.count() < messages) {
      sender.send(NumberedSender.Way.CLAIM);
    }
  }

  private static void receive(Connection connection, MessageStream stream, int messages) {
    new NumberedReceiver(connection, stream).receiveUpTo(messages, NumberedReceiver.Way.RECEIVE);
  }

  /**
   * Sends and receives the given number of messages on one side, in one thread that never waits for
   * only one of the two.
   */
  private static void exchange(Pair pair, int messages) {
    MessageStream stream = MessageStream.ofRandomLengths(12, LONGEST);
    Sender sender = pair.client().sender();
    NumberedReceiver receiver = new NumberedReceiver(pair.client(), stream);
    long sent = 0;
    while (sent < messages || receiver.count() < messages) {
      boolean moved = receiver.poll(16) > 0;
      SendRegion region = sent < messages ? sender.tryClaim(stream.length(sent)) : null;
      if (region != null) {
        stream.write(region.buffer(), region.offset(), sent++);
        region.commit();
        moved = true;
      }
      if (!moved) {
        idle();
      }
    }
  }

  private static byte[] bytes(ReceiveRegion message) {
    return message
        .buffer()
        .asSlice(message.offset(), message.length())
        .toArray(ValueLayout.JAVA_BYTE);
  }
}
