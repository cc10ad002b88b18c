// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.Receiver;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Blocking calls: what ends them, for each wait strategy. A wait strategy never changes the result
 * of a call.
 */
public abstract class WaitContract extends Contract {

  private static final MessageStream STREAM = MessageStream.ofLength(1_000);
  private static final Duration SHORT = Duration.ofMillis(150);
  private static final Duration SPUN = Duration.ofMillis(500);

  /**
   * The earliest end of a wait of {@link #SHORT}; a clock with millisecond resolution may round.
   */
  private static final Duration SHORT_AT_LEAST = SHORT.minusMillis(1);

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected WaitContract(ProviderUnderTest provider) {
    super(provider);
  }

  /**
   * The calls of a connection that block, on the client's side, when there is no message to receive
   * and no space to send.
   */
  enum BlockingCall {
    RECEIVE("receive") {
      @Override
      void call(Connection connection, long number) {
        connection.receiver().receive();
      }
    },
    RECEIVE_WITH_TIMEOUT("receive") {
      @Override
      void call(Connection connection, long number) {
        connection.receiver().receive(FOR_EVER);
      }
    },
    POLL_WITH_TIMEOUT("poll") {
      @Override
      void call(Connection connection, long number) {
        assertThat(connection.receiver().poll((buffer, offset, length) -> {}, 1, FOR_EVER)).isOne();
      }
    },
    CLAIM(null) {
      @Override
      void call(Connection connection, long number) {
        claimAndSend(connection.sender(), STREAM, number);
      }
    },
    CLAIM_WITH_TIMEOUT(null) {
      @Override
      void call(Connection connection, long number) {
        Sender sender = connection.sender();
        send(sender, sender.claim(STREAM.length(number), FOR_EVER), STREAM, number);
      }
    },
    SEND(null) {
      @Override
      void call(Connection connection, long number) {
        connection.sender().send(MemorySegment.ofArray(STREAM.bytes(number)));
      }
    },
    SEND_REGISTERED(null) {
      @Override
      void call(Connection connection, long number) {
        int length = STREAM.length(number);
        RegisteredMemory memory = connection.register(Arena.ofAuto().allocate(length));
        STREAM.write(memory.segment(), 0, number);
        connection.sender().sendRegistered(memory, 0, length);
      }
    };

    private static final Duration FOR_EVER = Duration.ofHours(1);

    private final @Nullable String method; // null for those that send; see SendLoop

    BlockingCall(@Nullable String method) {
      this.method = method;
    }

    /** Calls the method; one that sends sends the message of the given number. */
    abstract void call(Connection connection, long number);

    boolean sends() {
      return method == null;
    }
  }

  /** The calls of a listener that block while there is no client. */
  enum BlockingListenerCall {
    ACCEPT("accept") {
      @Override
      void call(Listener listener) {
        listener.accept();
      }
    },
    ACCEPT_WITH_TIMEOUT("accept") {
      @Override
      void call(Listener listener) {
        listener.accept(Duration.ofHours(1));
      }
    },
    NEXT_REQUEST("nextRequest") {
      @Override
      void call(Listener listener) {
        listener.nextRequest();
      }
    },
    NEXT_REQUEST_WITH_TIMEOUT("nextRequest") {
      @Override
      void call(Listener listener) {
        listener.nextRequest(Duration.ofHours(1));
      }
    };

    private final String method;

    BlockingListenerCall(String method) {
      this.method = method;
    }

    abstract void call(Listener listener);
  }

  static Stream<Arguments> calls() {
    return Arrays.stream(BlockingCall.values())
        .flatMap(call ->
            Arrays.stream(WaitStrategy.values()).map(strategy -> Arguments.of(call, strategy)));
  }

  static Stream<Arguments> listenerCalls() {
    return Arrays.stream(BlockingListenerCall.values())
        .flatMap(call ->
            Arrays.stream(WaitStrategy.values()).map(strategy -> Arguments.of(call, strategy)));
  }

  /** Returns options without keepalives, which would wake a thread whose wake-up is missing. */
  private ConnectionOptions.Builder waiting(WaitStrategy strategy) {
    return options()
        .set(StandardOptions.WAIT, strategy)
        .set(StandardOptions.PEER_TIMEOUT, Duration.ZERO);
  }

  @ParameterizedTest
  @EnumSource
  void receiveTimesOutAndHarmsNothing(WaitStrategy strategy) {
    Pair pair = connect(waiting(strategy));
    Receiver receiver = pair.server().receiver();

    assertTimesOut(() -> receiver.receive(SHORT), SHORT_AT_LEAST);
    assertTimesOut(() -> receiver.receive(Duration.ZERO), Duration.ZERO);
    assertTimesOut(() -> receiver.receive(Duration.ofSeconds(-1)), Duration.ZERO);
    assertTimesOut(() -> receiver.receive(Duration.ofNanos(1)), Duration.ZERO);

    for (Duration timeout : List.of(SHORT, Duration.ZERO, Duration.ofSeconds(-1))) {
      long start = System.nanoTime();
      assertThat(receiver.poll((buffer, offset, length) -> {}, 10, timeout)).isZero();
      Duration least = timeout.isPositive() ? SHORT_AT_LEAST : Duration.ZERO;
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(least, PATIENCE);
    }

    messagesPass(pair, 0);
  }

  @ParameterizedTest
  @EnumSource
  void claimTimesOutUnderBackPressureAndHarmsNothing(WaitStrategy strategy) {
    Pair pair = connect(waiting(strategy));
    Sender sender = pair.client().sender();

    long sent = sendUntilAClaimTimesOut(sender, 0, SHORT, SHORT_AT_LEAST);
    sent = sendUntilAClaimTimesOut(sender, sent, Duration.ZERO, Duration.ZERO);
    sent = sendUntilAClaimTimesOut(sender, sent, Duration.ofSeconds(-1), Duration.ZERO);

    messagesPass(pair, sent);
  }

  @ParameterizedTest
  @EnumSource
  void acceptingTimesOutAndHarmsNothing(WaitStrategy strategy) {
    ConnectionOptions options = waiting(strategy).build();
    Listener listener = listen(options);

    assertTimesOut(() -> listener.accept(SHORT), SHORT_AT_LEAST);
    assertTimesOut(() -> listener.accept(Duration.ZERO), Duration.ZERO);
    assertTimesOut(() -> listener.nextRequest(SHORT), SHORT_AT_LEAST);
    assertTimesOut(() -> listener.nextRequest(Duration.ofSeconds(-1)), Duration.ZERO);

    messagesPass(connectTo(listener, options), 0);
  }

  @ParameterizedTest
  @EnumSource
  void aTimeoutMayExceedTheRangeOfTheClock(WaitStrategy strategy) {
    Duration longest = Duration.ofSeconds(Long.MAX_VALUE);
    ConnectionOptions options = waiting(strategy).build();
    Listener listener = listen(options);
    Background<Connection> accepting =
        inBackground("server", () -> closeAtEnd(listener.accept(longest)));
    accepting.awaitInside("accept");
    Connection client = connectInBackground(listener, options).result();
    Connection server = accepting.result();

    Background<Integer> receiving =
        inBackground("receiver", () -> server.receiver().receive(longest).length());
    receiving.awaitInside("receive");
    SendRegion region = client.sender().claim(5, longest);
    region.commit();

    assertThat(receiving.result()).isEqualTo(5);
  }

  @ParameterizedTest
  @MethodSource("calls")
  void anInterruptEndsACallThatWaitsAndHarmsNothing(BlockingCall call, WaitStrategy strategy) {
    Pair pair = connect(waiting(strategy));
    SendLoop calls = prepare(call, pair);
    Background<Boolean> waiting = inBackground("waiting", () -> expectInterruption(calls));
    awaitBlocked(call, calls, waiting);

    waiting.thread().interrupt();

    waiting.result();
    messagesPass(pair, calls.count());
    messagesPass(pair.reversed(), 0);
  }

  @ParameterizedTest
  @MethodSource("calls")
  void anEarlierInterruptEndsACallThatWouldWait(BlockingCall call, WaitStrategy strategy) {
    Pair pair = connect(waiting(strategy));
    SendLoop calls = prepare(call, pair);

    inBackground(
            "waiting",
            () -> {
              Thread.currentThread().interrupt();
              expectInterruption(calls);
            })
        .result();

    messagesPass(pair, calls.count());
  }

  @ParameterizedTest
  @MethodSource("listenerCalls")
  void anInterruptEndsAListenersWaitAndHarmsNothing(
      BlockingListenerCall call, WaitStrategy strategy) {
    ConnectionOptions options = waiting(strategy).build();
    Listener listener = listen(options);
    Background<Boolean> waiting =
        inBackground("waiting", () -> expectInterruption(() -> call.call(listener)));
    waiting.awaitInside(call.method);

    waiting.thread().interrupt();

    waiting.result();
    messagesPass(connectTo(listener, options), 0);
  }

  @ParameterizedTest
  @MethodSource("calls")
  void closingFromAnotherThreadEndsACallThatWaits(BlockingCall call, WaitStrategy strategy) {
    Pair pair = connect(waiting(strategy));
    SendLoop calls = prepare(call, pair);
    Background<Boolean> waiting = inBackground("waiting", () -> assertClosed(calls));
    awaitBlocked(call, calls, waiting);

    pair.client().close();

    waiting.result();
  }

  @ParameterizedTest
  @MethodSource("listenerCalls")
  void closingTheListenerFromAnotherThreadEndsItsWait(
      BlockingListenerCall call, WaitStrategy strategy) {
    Listener listener = listen(waiting(strategy).build());
    Background<Boolean> waiting =
        inBackground("waiting", () -> assertClosed(() -> call.call(listener)));
    waiting.awaitInside(call.method);

    listener.close();

    waiting.result();
  }

  @ParameterizedTest
  @MethodSource("calls")
  void thePeersCloseEndsACallThatWaits(BlockingCall call, WaitStrategy strategy) {
    Pair pair = connect(waiting(strategy));
    SendLoop calls = prepare(call, pair);
    Background<Boolean> waiting =
        inBackground(
            "waiting",
            () -> {
              if (call.sends()) {
                assertClosedByPeer(calls);
              } else {
                assertEndOfStream(calls);
              }
            });
    awaitBlocked(call, calls, waiting);

    pair.server().close();

    waiting.result();
  }

  @ParameterizedTest
  @EnumSource
  void severalThreadsMayWaitForClientsAndAllEndWhenTheListenerIsClosed(WaitStrategy strategy) {
    if (strategy == WaitStrategy.SPIN) {
      strategy =
          WaitStrategy.ADAPTIVE; // four spinning threads would delay each other on few processors
    }
    ConnectionOptions options = patientOptions().set(StandardOptions.WAIT, strategy).build();
    Listener listener = listen(options);
    var waiting =
        Stream.of(1, 2, 3, 4)
            .map(i ->
                inBackground(
                    "server-" + i,
                    () ->
                        assertClosed(() -> {
                          while (true) {
                            closeAtEnd(listener.accept());
                          }
                        })))
            .toList();
    for (int i = 0; i < 8; i++) {
      closeAtEnd(Ferrule.connect(listener.uri(), options));
    }
    waiting.forEach(thread -> thread.awaitInside("accept"));

    listener.close();

    waiting.forEach(Background::result);
  }

  @ParameterizedTest
  @EnumSource
  void aMessageWakesASleepingReceiver(WaitStrategy strategy) {
    Pair pair = connect(waiting(strategy));
    NumberedSender sender = new NumberedSender(pair.client(), STREAM, STREAM.length(0));
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);

    for (NumberedSender.Way way : NumberedSender.Way.values()) {
      Background<Boolean> receiving =
          inBackground("receiver", () -> receiver.receive(NumberedReceiver.Way.RECEIVE));
      receiving.awaitInside("receive");
      sender.send(way);
      pair.client().sender().flush();
      receiving.result();
    }
  }

  /** Twice as many messages arrive as there was space for, so freed space was used. */
  @ParameterizedTest
  @EnumSource
  void freedSpaceWakesASleepingSender(WaitStrategy strategy) {
    Pair pair = connect(waiting(strategy));
    Sender sender = pair.client().sender();
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);

    for (NumberedReceiver.Way way :
        List.of(NumberedReceiver.Way.RECEIVE, NumberedReceiver.Way.POLL)) {
      long first = receiver.count();
      SendLoop sends =
          new SendLoop(
              pair.client(),
              first,
              number -> sender.send(MemorySegment.ofArray(STREAM.bytes(number))));
      Background<Boolean> sending = inBackground("sender", sends::call);
      sends.awaitBlocked();
      long blocked = sends.count();
      receiver.receiveUpTo(blocked + Math.max(1, blocked - first), way);
      sends.stop();
      while (!sending.isDone()) {
        receiver.poll(1);
      }
      sending.result();
      receiver.receiveUpTo(sends.count(), way);
    }
    receiver.expectNoMore();
  }

  /**
   * This thread spins. A receiver that spins uses about as much processor time, however busy the
   * machine is; a blocked one uses almost none once it has begun to wait.
   */
  @Test
  void aBlockedReceiverUsesNoProcessorTime() {
    Pair pair = connect(waiting(WaitStrategy.BLOCK));
    Background<Boolean> receiving =
        inBackground("receiver", () -> pair.server().receiver().receive().close());
    receiving.awaitInside("receive");
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long receiver = receiving.thread().threadId();

    eventually(
        "the receiver uses almost no processor time",
        () -> {
          long before = threads.getThreadCpuTime(receiver);
          long end = threads.getCurrentThreadCpuTime() + SPUN.toNanos();
          while (threads.getCurrentThreadCpuTime() < end) {
            Thread.onSpinWait();
          }
          return threads.getThreadCpuTime(receiver) - before < SPUN.toNanos() / 20;
        });
    pair.client().sender().send(MemorySegment.ofArray(STREAM.bytes(0)));
    receiving.result();
  }

  /**
   * Messages arrive at moments when the receiver may just be falling asleep. A missed wake-up would
   * hang the test. The limit is long because on a busy machine each round takes milliseconds.
   */
  @ParameterizedTest
  @EnumSource(names = {"ADAPTIVE", "BLOCK"})
  @Timeout(value = 15, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void noWakeUpIsMissed(WaitStrategy strategy) {
    Pair pair = connect(waiting(strategy));
    int rounds = provider.messages(20_000);
    MessageStream stream = MessageStream.ofLength(32);
    Background<Boolean> server =
        inBackground(
            "server",
            () -> {
              NumberedSender sender = new NumberedSender(pair.server(), stream, 32);
              NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
              SplittableRandom random = new SplittableRandom(1);
              while (receiver.count() < rounds) {
                receiver.receive(NumberedReceiver.Way.RECEIVE);
                spin(random);
                sender.send(NumberedSender.Way.CLAIM);
              }
            });
    NumberedSender sender = new NumberedSender(pair.client(), stream, 32);
    NumberedReceiver receiver = new NumberedReceiver(pair.client(), stream);
    SplittableRandom random = new SplittableRandom(2);
    while (receiver.count() < rounds) {
      sender.send(NumberedSender.Way.CLAIM);
      spin(random);
      receiver.receive(NumberedReceiver.Way.RECEIVE);
    }
    server.result();
  }

  /** The same for a sender that waits for space, with a receiver that frees at random moments. */
  @ParameterizedTest
  @EnumSource(names = {"ADAPTIVE", "BLOCK"})
  @Timeout(value = 15, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void noFreedSpaceIsMissed(WaitStrategy strategy) {
    Pair pair = connect(waiting(strategy).set(StandardOptions.MAX_MESSAGE, 8L * KIB));
    MessageStream stream = MessageStream.ofLength(8 * KIB);
    int messages = provider.messages(20_000);
    Background<Boolean> sending =
        inBackground(
            "sender",
            () -> {
              NumberedSender sender = new NumberedSender(pair.client(), stream, 8 * KIB);
              while (sender.count() < messages) {
                sender.send(NumberedSender.Way.CLAIM);
              }
            });
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), stream);
    SplittableRandom random = new SplittableRandom(3);
    while (receiver.count() < messages) {
      receiver.receive(NumberedReceiver.Way.RECEIVE);
      spin(random);
    }
    sending.result();
  }

  /** Fills the buffer space for calls that send; returns the loop of further calls. */
  private static SendLoop prepare(BlockingCall call, Pair pair) {
    long sent = call.sends() ? sendUntilBackPressure(pair.client().sender(), STREAM, 0) : 0;
    return new SendLoop(pair.client(), sent, number -> call.call(pair.client(), number));
  }

  private static void awaitBlocked(BlockingCall call, SendLoop calls, Background<?> waiting) {
    if (call.method == null) {
      calls.awaitBlocked();
    } else {
      waiting.awaitInside(call.method); // it stays there, because nothing is sent
    }
  }

  /** Sends until a claim times out, and checks its duration. Returns the next number. */
  private static long sendUntilAClaimTimesOut(
      Sender sender, long first, Duration timeout, Duration atLeast) {
    for (long number = first; ; number++) {
      long start = System.nanoTime();
      SendRegion region;
      try {
        region = sender.claim(STREAM.length(number), timeout);
      } catch (OperationTimeoutException e) {
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(atLeast, PATIENCE);
        return number;
      }
      send(sender, region, STREAM, number);
    }
  }

  /** Checks that the sent messages arrive, and further ones as well. */
  private static void messagesPass(Pair pair, long sent) {
    NumberedReceiver receiver = new NumberedReceiver(pair.server(), STREAM);
    receiver.receiveUpTo(sent, NumberedReceiver.Way.RECEIVE_WITH_TIMEOUT);
    for (long number = sent; number < sent + 10; number++) {
      SendRegion region = pair.client().sender().claim(STREAM.length(number), PATIENCE);
      STREAM.write(region.buffer(), region.offset(), number);
      region.commit();
      receiver.receive(NumberedReceiver.Way.RECEIVE_WITH_TIMEOUT);
    }
    receiver.expectNoMore();
  }

  private static void expectInterruption(ThrowingCallable call) {
    assertThatThrownBy(call).isInstanceOf(OperationInterruptedException.class);
    assertThat(Thread.interrupted()).as("the thread's interrupt flag").isTrue();
  }

  private static void assertTimesOut(ThrowingCallable call, Duration atLeast) {
    long start = System.nanoTime();
    assertThatThrownBy(call).isInstanceOf(OperationTimeoutException.class);
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(atLeast, PATIENCE);
  }

  private static void spin(SplittableRandom random) {
    for (int i = random.nextInt(3_000); i > 0; i--) {
      Thread.onSpinWait();
    }
  }
}
