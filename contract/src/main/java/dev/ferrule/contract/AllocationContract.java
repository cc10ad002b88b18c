// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.ferrule.Connection;
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
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * In the steady state, after JIT compilation, sending and receiving allocate nothing: not one byte
 * in hundreds of thousands of messages.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class AllocationContract extends Contract {

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /**
   * The allocation that the measurement itself may cause. One object of 16 bytes per message would
   * be a thousand times as much.
   */
  private static final long TOLERATED_BYTES = 1_024;

  private static final int BURST = 16;
  private static final int WARM_UP = 200_000;
  private static final int MEASURED = 200_000;

  /**
   * The number of consecutive rounds that have to be clean. The first rounds usually are: in one
   * run of the tests of sm, on a busy machine with two processors, each of 750 rounds after the
   * warm-up allocated 0, 16 or 336 bytes.
   */
  private static final int CLEAN_ROUNDS = 3;

  /**
   * The number of rounds before a test may fail; it fails after {@link Contract#PATIENCE} at the
   * earliest. Only C2 eliminates the allocation of objects that do not escape. It compiles in the
   * background, and again when a path is taken that its code does not contain. On a busy machine
   * that may happen long after the warm-up; until it is done, the interpreter and C1 allocate.
   */
  private static final int ROUNDS = 15;

  /** The handler and the readers add to this, so that no read is dead code. */
  private long checksum;

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected AllocationContract(ProviderUnderTest provider) {
    super(provider);
  }

  /** The ways of sending that must not allocate. */
  enum Sending {
    COPY_FROM_NATIVE,
    COPY_FROM_HEAP,
    CLAIM,
    TRY_CLAIM,
    REGISTERED,
    GATHER,
    BATCH,
    BATCH_COPY,
    BATCH_REGISTERED,
    BATCH_GATHER,
    AWAIT_EACH
  }

  /** The ways of receiving that must not allocate. */
  enum Receiving {
    POLL,
    TRY_RECEIVE,
    RECEIVE
  }

  static Stream<Arguments> waysOfSending() {
    return Stream.of(8, 64, 1_024)
        .flatMap(length ->
            Arrays.stream(Sending.values()).map(sending -> Arguments.of(sending, length)));
  }

  static Stream<Arguments> waysOfReceiving() {
    return Stream.of(8, 64, 1_024)
        .flatMap(length ->
            Arrays.stream(Receiving.values()).map(receiving -> Arguments.of(receiving, length)));
  }

  @ParameterizedTest
  @MethodSource("waysOfSending")
  void sendingAllocatesNothing(Sending sending, int length) {
    Pair pair = connect();
    Source source = new Source(pair.client(), length);
    Sink sink = new Sink(pair.server());

    sendAndReceive(source, sending, sink, Receiving.POLL, provider.messages(WARM_UP));
    assertAllocatesNothing(
        () -> sendAndReceive(source, sending, sink, Receiving.POLL, provider.messages(MEASURED)));
  }

  @ParameterizedTest
  @MethodSource("waysOfReceiving")
  void receivingAllocatesNothing(Receiving receiving, int length) {
    Pair pair = connect();
    Source source = new Source(pair.client(), length);
    Sink sink = new Sink(pair.server());

    sendAndReceive(source, Sending.CLAIM, sink, receiving, provider.messages(WARM_UP));
    assertAllocatesNothing(
        () -> sendAndReceive(source, Sending.CLAIM, sink, receiving, provider.messages(MEASURED)));
  }

  /** Both threads wait here, for messages and for buffer space. */
  @ParameterizedTest
  @MethodSource("waysOfReceiving")
  void twoThreadsThatWaitForEachOtherAllocateNothing(Receiving receiving, int length) {
    Pair pair = connect();
    int warmUp = provider.messages(WARM_UP);
    int measured = provider.messages(MEASURED) / 2;
    Source source = new Source(pair.client(), length);
    Sink sink = new Sink(pair.server());

    twoThreadsAllocateNothing(
        () -> send(source, Sending.CLAIM, warmUp),
        () -> send(source, Sending.CLAIM, measured),
        () -> receive(sink, receiving, warmUp),
        () -> receive(sink, receiving, measured));
  }

  /** Both threads sleep here before every message. */
  @Test
  void sleepingAndWakingUpAllocatesNothing() {
    Pair pair = connect(options().set(StandardOptions.WAIT, WaitStrategy.BLOCK));
    int warmUp = provider.messages(20_000);
    int measured = provider.messages(4_000);
    Source there = new Source(pair.client(), 8);
    Source back = new Source(pair.server(), 8);
    Sink client = new Sink(pair.client());
    Sink server = new Sink(pair.server());

    twoThreadsAllocateNothing(
        () -> ask(there, client, warmUp),
        () -> ask(there, client, measured),
        () -> answer(server, back, warmUp),
        () -> answer(server, back, measured));
  }

  private void ask(Source there, Sink back, int roundTrips) {
    for (int i = 0; i < roundTrips; i++) {
      send(there, Sending.CLAIM, 1);
      receive(back, Receiving.RECEIVE, 1);
    }
  }

  private void answer(Sink there, Source back, int roundTrips) {
    for (int i = 0; i < roundTrips; i++) {
      receive(there, Receiving.RECEIVE, 1);
      send(back, Sending.CLAIM, 1);
    }
  }

  /** Fails unless several consecutive rounds allocate nothing. */
  static void assertAllocatesNothing(Runnable round) {
    assertAllocatesNothing(round, PATIENCE);
  }

  /** Fails after {@code patience} at the earliest. */
  static void assertAllocatesNothing(Runnable round, Duration patience) {
    Rounds rounds = new Rounds(patience);
    List<Long> allocated = new ArrayList<>();
    do {
      allocated.add(allocated(round));
    } while (rounds.needMore(allocated));
    assertClean(allocated, "bytes allocated by each round");
  }

  private void twoThreadsAllocateNothing(
      Runnable warmUp, Runnable round, Runnable otherWarmUp, Runnable otherRound) {
    List<Long> allocated = new ArrayList<>();
    List<Long> allocatedByOther = new ArrayList<>();
    AtomicBoolean more = new AtomicBoolean();
    Rounds rounds = new Rounds(PATIENCE);
    CyclicBarrier end = // of a round: each thread needs the other one in it
        new CyclicBarrier(
            2, () -> more.set(rounds.needMore(allocated) || rounds.needMore(allocatedByOther)));

    Background<Boolean> other =
        inBackground(
            "other", () -> runRounds(otherWarmUp, otherRound, allocatedByOther, end, more));
    try {
      runRounds(warmUp, round, allocated, end, more);
    } catch (InterruptedException | BrokenBarrierException e) {
      throw new AssertionError("the other thread has failed", e);
    }
    other.result();

    assertClean(allocated, "bytes allocated by each round of one thread");
    assertClean(allocatedByOther, "bytes allocated by each round of the other thread");
  }

  private static void runRounds(
      Runnable warmUp, Runnable round, List<Long> allocated, CyclicBarrier end, AtomicBoolean more)
      throws InterruptedException, BrokenBarrierException {
    warmUp.run();
    do {
      allocated.add(allocated(round));
      end.await();
    } while (more.get());
  }

  private static void assertClean(List<Long> allocated, String what) {
    assertThat(hasCleanRounds(allocated))
        .as("%s, of which %d in a row have to be clean: %s", what, CLEAN_ROUNDS, allocated)
        .isTrue();
  }

  private static boolean hasCleanRounds(List<Long> allocated) {
    int inARow = 0;
    for (long bytes : allocated) {
      inARow = bytes < TOLERATED_BYTES ? inARow + 1 : 0;
      if (inARow == CLEAN_ROUNDS) {
        return true;
      }
    }
    return false;
  }

  /** Decides how many rounds to run. */
  private static final class Rounds {
    private final long deadline;

    Rounds(Duration patience) {
      deadline = System.nanoTime() + patience.toNanos();
    }

    boolean needMore(List<Long> allocated) {
      return !hasCleanRounds(allocated)
          && (allocated.size() < ROUNDS || System.nanoTime() - deadline < 0);
    }
  }

  private static long allocated(Runnable round) {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    round.run();
    return THREADS.getCurrentThreadAllocatedBytes() - before;
  }

  private void sendAndReceive(
      Source source, Sending sending, Sink sink, Receiving receiving, int messages) {
    for (int done = 0; done < messages; done += BURST) {
      send(source, sending, BURST);
      receive(sink, receiving, BURST);
    }
  }

  private void send(Source source, Sending sending, int messages) {
    for (int i = 0; i < messages; i++) {
      source.send(sending);
    }
    source.sender.flush();
  }

  private void receive(Sink sink, Receiving receiving, int messages) {
    int received = 0;
    while (received < messages) {
      received += sink.receive(receiving, messages - received);
    }
    checksum += sink.sum;
  }

  /** Sends identical messages. */
  private static final class Source {
    private final Sender sender;
    private final MemorySegment nativeMemory;
    private final MemorySegment heap;
    private final MemorySegment header = Arena.ofAuto().allocate(4);
    private final RegisteredMemory registered;
    private final int length;

    Source(Connection connection, int length) {
      this.sender = connection.sender();
      this.length = length;
      Arena arena = Arena.ofAuto();
      nativeMemory = arena.allocate(length);
      heap = MemorySegment.ofArray(new byte[length]);
      registered = connection.register(arena.allocate(length));
    }

    void send(Sending way) {
      switch (way) {
        case COPY_FROM_NATIVE:
          sender.send(nativeMemory);
          break;
        case COPY_FROM_HEAP:
          sender.send(heap);
          break;
        case CLAIM:
          written(sender.claim(length)).commit();
          break;
        case TRY_CLAIM:
          SendRegion region = sender.tryClaim(length);
          while (region == null) {
            idle();
            region = sender.tryClaim(length);
          }
          written(region).commit();
          break;
        case REGISTERED:
          sender.sendRegistered(registered, 0, length);
          break;
        case GATHER:
          sender.sendRegistered(header, registered, 4, length - 4);
          break;
        case BATCH:
          written(sender.claim(length)).stage();
          break;
        case BATCH_COPY:
          sender.stage(nativeMemory);
          break;
        case BATCH_REGISTERED:
          sender.stageRegistered(registered, 0, length);
          break;
        case BATCH_GATHER:
          sender.stageRegistered(header, registered, 4, length - 4);
          break;
        case AWAIT_EACH:
          sender.await(written(sender.claim(length)).commit());
          break;
        default:
          throw new AssertionError(way);
      }
    }

    private SendRegion written(SendRegion region) {
      region.buffer().set(ValueLayout.JAVA_LONG_UNALIGNED, region.offset(), 42);
      return region;
    }
  }

  /** Receives and reads messages. */
  private static final class Sink {
    private final Receiver receiver;
    private final MessageHandler handler = (buffer, offset, length) -> read(buffer, offset);
    private long sum;

    Sink(Connection connection) {
      this.receiver = connection.receiver();
    }

    int receive(Receiving way, int limit) {
      switch (way) {
        case POLL:
          int polled = receiver.poll(handler, Math.min(limit, BURST));
          if (polled == 0) {
            idle();
          }
          return polled;
        case TRY_RECEIVE:
          ReceiveRegion tried = receiver.tryReceive();
          if (tried == null) {
            idle();
            return 0;
          }
          read(tried.buffer(), tried.offset());
          receiver.free(tried);
          return 1;
        case RECEIVE:
          ReceiveRegion message = receiver.receive();
          read(message.buffer(), message.offset());
          receiver.free(message);
          return 1;
        default:
          throw new AssertionError(way);
      }
    }

    private void read(MemorySegment buffer, long offset) {
      sum += buffer.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }
  }
}
