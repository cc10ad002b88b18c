// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.Listener;
import dev.ferrule.MessageTooLongException;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The guarantees for several threads that send over one connection. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SmConcurrentSenderTest {

  private static final int THREADS = 4;
  private static final int HEADER = 16; // thread, number, checksum of the rest
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  private final SmUnderTest addresses = new SmUnderTest();
  private final List<Connection> opened = new ArrayList<>();

  private record Pair(Connection client, Connection server) {}

  /** A thread, and the result of its task. */
  private record Worker<T>(Thread thread, FutureTask<T> task) {

    static <T> Worker<T> start(Callable<T> work) {
      FutureTask<T> task = new FutureTask<>(work);
      Thread thread = new Thread(task, "worker");
      thread.start();
      return new Worker<>(thread, task);
    }

    T result() throws Exception {
      return task.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    Throwable failure() throws Exception {
      try {
        throw new AssertionError("it returned " + result());
      } catch (ExecutionException e) {
        return e.getCause();
      }
    }
  }

  @AfterEach
  void closeAll() {
    opened.forEach(Connection::close);
    addresses.close();
  }

  private static ConnectionOptions options(String... more) {
    ConnectionOptions.Builder builder =
        ConnectionOptions.builder()
            .set("concurrentSenders", "on")
            .set(StandardOptions.MAX_MESSAGE, 16L * 1024);
    for (int i = 0; i < more.length; i += 2) {
      builder.set(more[i], more[i + 1]);
    }
    return builder.build();
  }

  private Pair connect(String... more) {
    return connect(options(more), options(more));
  }

  private Pair connect(ConnectionOptions client, ConnectionOptions server) {
    try (Listener listener = Ferrule.listen(addresses.listenAddress(), server)) {
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri(), client));
      Connection accepted = listener.accept();
      opened.add(accepted);
      opened.add(connecting.join());
      return new Pair(connecting.join(), accepted);
    }
  }

  private static void eventually(BooleanSupplier condition) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - deadline).as("time until the condition holds").isNegative();
      Thread.yield();
    }
  }

  /** Number of regions that several threads can claim in a ring of 4 KiB. */
  private static final int ALL_OF_SMALLEST = 32;

  private static SendRegion[] claim(Sender sender, int count) {
    SendRegion[] regions = new SendRegion[count];
    for (int i = 0; i < count; i++) {
      regions[i] = sender.claim(8);
    }
    return regions;
  }

  private static void awaitBlocked(Worker<?> worker) {
    eventually(() ->
        worker.thread().getState() == Thread.State.WAITING
            || worker.thread().getState() == Thread.State.TIMED_WAITING);
  }

  // -- messages
  // ------------------------------------------------------------------------------------

  /** Claims, sends, aborts, batches and copies; small rings, so that all threads wait at times. */
  @ParameterizedTest
  @CsvSource({
    "adaptive, 256KiB, 0",
    "block, 256KiB, 0",
    "block, 4KiB, 64KiB",
    "adaptive, 4KiB, 16KiB"
  })
  void eachThreadsMessagesArriveOnceWholeAndInItsOrder(String wait, String ring, String buffer)
      throws Exception {
    Pair pair = connect("wait", wait, "ring", ring, "buffer", buffer);
    int each = 10_000;
    List<Worker<long[]>> senders = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      int me = i;
      senders.add(Worker.start(() -> sendMany(pair.client().sender(), me, each)));
    }

    int[] next = new int[THREADS];
    long bytes = 0;
    for (int i = 0; i < THREADS * each; i++) {
      ReceiveRegion message = pair.server().receiver().receive(PATIENCE);
      bytes += message.length();
      int thread = message.segment().get(ValueLayout.JAVA_INT_UNALIGNED, 0);
      assertThat(message.segment().get(ValueLayout.JAVA_INT_UNALIGNED, 4))
          .as("thread %d", thread)
          .isEqualTo(next[thread]++);
      assertThat(message.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 8))
          .isEqualTo(checksum(message.segment()));
      message.close();
    }

    assertThat(pair.server().receiver().tryReceive()).isNull();
    LongStream ids = LongStream.empty();
    for (Worker<long[]> sender : senders) {
      long[] some = sender.result();
      assertThat(some).as("ids of one thread").isSorted();
      ids = LongStream.concat(ids, LongStream.of(some));
    }
    assertThat(ids.sorted().toArray())
        .as("ids of all threads")
        .isEqualTo(LongStream.rangeClosed(1, THREADS * each).toArray());
    assertThat(pair.client().counters().messagesSent()).isEqualTo(THREADS * each);
    assertThat(pair.client().counters().bytesSent()).isEqualTo(bytes);
    assertThat(pair.client().sender().isComplete(THREADS * each)).isTrue();
    assertThatThrownBy(() -> pair.client().sender().await(THREADS * each + 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static long[] sendMany(Sender sender, int thread, int count) {
    Random random = new Random(thread);
    long[] ids = new long[count];
    MemorySegment copy = MemorySegment.ofArray(new byte[8_000]);
    for (int number = 0; number < count; number++) {
      int length = HEADER + random.nextInt(random.nextInt(8) == 0 ? 7_000 : 100);
      if (random.nextInt(4) == 0) {
        sender.claim(random.nextInt(3_000)).abort();
      }
      if (random.nextBoolean()) {
        SendRegion region = sender.claim(length + random.nextInt(50));
        write(region.segment().asSlice(0, length), thread, number, random);
        ids[number] =
            random.nextBoolean() ? sender.sendAsync(region, length) : sender.stage(region, length);
      } else {
        write(copy.asSlice(0, length), thread, number, random);
        ids[number] = sender.send(copy, 0, length);
      }
      assertThat(sender.isComplete(ids[number])).isTrue();
    }
    assertThat(sender.staged()).isZero();
    return ids;
  }

  private static void write(MemorySegment message, int thread, int number, Random random) {
    message.fill((byte) random.nextInt());
    message.set(ValueLayout.JAVA_INT_UNALIGNED, 0, thread);
    message.set(ValueLayout.JAVA_INT_UNALIGNED, 4, number);
    message.set(ValueLayout.JAVA_LONG_UNALIGNED, 8, checksum(message));
  }

  private static long checksum(MemorySegment message) {
    CRC32C sum = new CRC32C();
    sum.update(message.asSlice(HEADER).toArray(ValueLayout.JAVA_BYTE));
    return sum.getValue() ^ message.get(ValueLayout.JAVA_INT_UNALIGNED, 4);
  }

  @Test
  void aRegionThatTwoThreadsSendAtOnceIsSentOnce() throws Exception {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    for (int round = 0; round < 500; round++) {
      SendRegion region = sender.claim(8);
      CountDownLatch go = new CountDownLatch(2);
      Callable<Long> sending =
          () -> {
            go.countDown();
            go.await();
            try {
              return sender.sendAsync(region);
            } catch (IllegalStateException e) {
              return 0L;
            }
          };
      Worker<Long> one = Worker.start(sending);
      Worker<Long> other = Worker.start(sending);
      assertThat(one.result() + other.result()).isEqualTo(round + 1);
      pair.server().receiver().receive(PATIENCE).close();
    }
  }

  @Test
  void onlyThisSidesSenderIsConcerned() {
    Pair pair = connect(options(), ConnectionOptions.builder().build());
    for (int i = 0; i < 3_000; i++) {
      pair.client().sender().send(MemorySegment.ofArray(new byte[i]));
      pair.server().receiver().receive(PATIENCE).close();
      pair.server().sender().send(MemorySegment.ofArray(new byte[i]));
      try (ReceiveRegion message = pair.client().receiver().receive(PATIENCE)) {
        assertThat(message.length()).isEqualTo(i);
      }
    }
    pair.server().sender().stage(pair.server().sender().claim(1));
    assertThat(pair.server().sender().staged()).as("the other side's batch").isOne();
  }

  @Test
  void theLongestMessageFillsABufferOfOneMessage() {
    Pair pair = connect("maxMessage", "16KiB", "buffer", "16KiB");
    Sender sender = pair.client().sender();
    int longest = sender.maxMessageSize();
    assertThat(longest).isEqualTo(16 * 1024);
    assertThatThrownBy(() -> sender.claim(longest + 1)).isInstanceOf(MessageTooLongException.class);
    for (int i = 0; i < 100; i++) {
      SendRegion region = sender.claim(longest);
      region.segment().fill((byte) i);
      sender.sendAsync(region);
      try (ReceiveRegion message = pair.server().receiver().receive(PATIENCE)) {
        assertThat(message.segment().toArray(ValueLayout.JAVA_BYTE))
            .hasSize(longest)
            .containsOnly(i);
      }
    }
  }

  @Test
  void aPeerWhoseMessagesAreAllInlineHasSomeLinesForClaims() {
    Pair pair = connect("maxMessage", "2044", "ring", "16KiB");
    Sender sender = pair.client().sender();
    assertThat(sender.maxMessageSize()).isEqualTo(2044);
    for (int i = 0; i < 1_000; i++) {
      sender.send(MemorySegment.ofArray(new byte[2044]));
      try (ReceiveRegion message = pair.server().receiver().receive(PATIENCE)) {
        assertThat(message.length()).isEqualTo(2044);
      }
    }
    int room = 0;
    while (sender.tryClaim(1) != null) {
      room++;
    }
    assertThat(room).isEqualTo(128);
  }

  // -- waiting
  // -------------------------------------------------------------------------------------

  /** Fills the room; returns the number of messages. */
  private static int fill(Sender sender, int length) {
    int count = 0;
    for (SendRegion region = sender.tryClaim(length);
        region != null;
        region = sender.tryClaim(length)) {
      sender.sendAsync(region);
      count++;
    }
    return count;
  }

  private static List<Worker<Long>> startWaiting(Sender sender) {
    List<Worker<Long>> waiting = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      waiting.add(Worker.start(() -> sender.send(MemorySegment.ofArray(new byte[1_000]))));
    }
    return waiting;
  }

  @ParameterizedTest
  @EnumSource(names = {"ADAPTIVE", "BLOCK"})
  void allThreadsThatWaitForRoomGoOnWhenThereIsSome(WaitStrategy strategy) throws Exception {
    Pair pair = connect("wait", strategy.name().toLowerCase(), "ring", "4KiB");
    Sender sender = pair.client().sender();
    for (int round = 0; round < 50; round++) {
      int sent = fill(sender, 1_000);
      List<Worker<Long>> waiting = startWaiting(sender);
      long stalls = (round + 1) * (THREADS + 1L);
      long sleeps = (round + 1) * (long) THREADS;
      eventually(() -> pair.client().counters().backPressureStalls() == stalls);
      eventually(() -> pair.client().counters().wakeupsReceived() >= sleeps);
      waiting.forEach(SmConcurrentSenderTest::awaitBlocked);
      for (int i = 0; i < sent + THREADS; i++) {
        pair.server().receiver().receive(PATIENCE).close();
      }
      for (Worker<Long> worker : waiting) {
        assertThat(worker.result()).isPositive();
      }
    }
    assertThat(pair.client().counters().backPressureStalls()).isEqualTo(50 * (THREADS + 1));
    assertThat(pair.client().counters().wakeupsReceived()).isGreaterThanOrEqualTo(50 * THREADS);
  }

  @ParameterizedTest
  @EnumSource
  void closingEndsAllThreadsThatWait(WaitStrategy strategy) throws Exception {
    Pair pair = connect("wait", strategy.name().toLowerCase(), "ring", "4KiB");
    fill(pair.client().sender(), 1_000);
    List<Worker<Long>> waiting = startWaiting(pair.client().sender());
    eventually(() -> pair.client().counters().backPressureStalls() == THREADS + 1);

    pair.client().close();

    for (Worker<Long> worker : waiting) {
      assertThat(worker.failure()).isInstanceOf(ConnectionClosedException.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void thePeersCloseEndsAllThreadsThatWait(WaitStrategy strategy) throws Exception {
    Pair pair = connect("wait", strategy.name().toLowerCase(), "ring", "4KiB");
    fill(pair.client().sender(), 1_000);
    List<Worker<Long>> waiting = startWaiting(pair.client().sender());
    eventually(() -> pair.client().counters().backPressureStalls() == THREADS + 1);

    pair.server().close();

    for (Worker<Long> worker : waiting) {
      assertThat(worker.failure()).isInstanceOf(ConnectionClosedException.class);
    }
  }

  @Test
  void anInterruptEndsTheWaitOfItsThreadAndOfNoOther() throws Exception {
    Pair pair = connect("wait", "block", "ring", "4KiB");
    int sent = fill(pair.client().sender(), 1_000);
    List<Worker<Long>> waiting = startWaiting(pair.client().sender());
    waiting.forEach(SmConcurrentSenderTest::awaitBlocked);

    waiting.get(1).thread().interrupt();

    assertThat(waiting.remove(1).failure()).isInstanceOf(OperationInterruptedException.class);
    for (int i = 0; i < sent + THREADS - 1; i++) {
      pair.server().receiver().receive(PATIENCE).close();
    }
    for (Worker<Long> worker : waiting) {
      worker.result();
    }
  }

  /**
   * Starts threads that send inline messages forever, and waits until they block for lack of room.
   */
  private static List<Worker<Long>> startWaitingInline(Pair pair, AtomicLong sent) {
    List<Worker<Long>> waiting = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      waiting.add(
          Worker.start(() -> {
            while (true) {
              pair.client().sender().send(MemorySegment.ofArray(new byte[100]));
              sent.incrementAndGet();
            }
          }));
    }
    eventually(() -> pair.client().counters().backPressureStalls() == THREADS);
    return waiting;
  }

  private static void receive(Pair pair, long count) {
    for (long i = 0; i < count; i++) {
      pair.server().receiver().receive(PATIENCE).close();
    }
  }

  @ParameterizedTest
  @EnumSource
  void closingEndsAllThreadsThatWaitToSendInline(WaitStrategy strategy) throws Exception {
    Pair pair = connect("wait", strategy.name().toLowerCase());
    List<Worker<Long>> waiting = startWaitingInline(pair, new AtomicLong());

    pair.client().close();

    for (Worker<Long> worker : waiting) {
      assertThat(worker.failure()).isInstanceOf(ConnectionClosedException.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void thePeersCloseEndsAllThreadsThatWaitToSendInline(WaitStrategy strategy) throws Exception {
    Pair pair = connect("wait", strategy.name().toLowerCase());
    List<Worker<Long>> waiting = startWaitingInline(pair, new AtomicLong());

    pair.server().close();

    for (Worker<Long> worker : waiting) {
      assertThat(worker.failure()).isInstanceOf(ConnectionClosedException.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void anInterruptEndsTheWaitToSendInlineOfItsThreadAndOfNoOther(WaitStrategy strategy)
      throws Exception {
    Pair pair = connect("wait", strategy.name().toLowerCase());
    AtomicLong sent = new AtomicLong();
    List<Worker<Long>> waiting = startWaitingInline(pair, sent);

    waiting.get(1).thread().interrupt();

    assertThat(waiting.remove(1).failure()).isInstanceOf(OperationInterruptedException.class);
    long before = sent.get();
    receive(pair, before + 1_000); // only the others can have sent some of those
    for (Worker<Long> worker : waiting) {
      worker.thread().interrupt();
      assertThat(worker.failure()).isInstanceOf(OperationInterruptedException.class);
    }
    receive(pair, sent.get() - before - 1_000);
    pair.client().sender().send(MemorySegment.ofArray(new byte[0]));
    try (ReceiveRegion last = pair.server().receiver().receive(PATIENCE)) {
      assertThat(last.length()).as("the interrupted message was not sent").isZero();
    }
  }

  /** The receiver is not involved, so it cannot cause the wake-up. */
  @Test
  void anAbortWakesThreadsThatWaitForItsRoom() throws Exception {
    Pair pair = connect("wait", "block", "ring", "4KiB");
    Sender sender = pair.client().sender();
    for (int round = 0; round < 100; round++) {
      SendRegion[] regions = claim(sender, ALL_OF_SMALLEST);
      Worker<Boolean> waiting =
          Worker.start(() -> {
            sender.claim(8).abort();
            return true;
          });
      awaitBlocked(waiting);
      for (SendRegion region : regions) {
        region.abort();
      }
      assertThat(waiting.result()).isTrue();
    }
  }

  // -- all the room is claimed
  // ---------------------------------------------------------------------

  /** Two threads have claimed half of the room each, and both claim more. */
  @ParameterizedTest
  @EnumSource
  void threadsThatWaitForTheirOwnClaimsFail(WaitStrategy strategy) throws Exception {
    Pair pair = connect("wait", strategy.name().toLowerCase(), "ring", "4KiB");
    Sender sender = pair.client().sender();
    CountDownLatch claimed = new CountDownLatch(2);
    Callable<Boolean> greedy =
        () -> {
          SendRegion[] half = claim(sender, ALL_OF_SMALLEST / 2);
          claimed.countDown();
          claimed.await();
          try {
            sender.claim(8).abort();
            return true;
          } catch (IllegalStateException e) {
            assertThat(e).hasMessageContaining("claimed by this program");
            return false;
          } finally {
            for (SendRegion region : half) {
              region.abort();
            }
          }
        };
    Worker<Boolean> one = Worker.start(greedy);
    Worker<Boolean> other = Worker.start(greedy);

    assertThat(one.result() && other.result()).as("both exceed the room").isFalse();
  }

  @Test
  void aThreadThatWaitsWhileAnotherHasClaimedAllTheRoomDoesNotFail() throws Exception {
    Pair pair = connect("ring", "4KiB", "wait", "spin");
    Sender sender = pair.client().sender();
    for (int round = 0; round < 20; round++) {
      SendRegion[] regions = claim(sender, ALL_OF_SMALLEST);
      long stalls = pair.client().counters().backPressureStalls();
      Worker<Long> waiting =
          Worker.start(() -> sender.send(MemorySegment.ofArray(new byte[1_000])));
      eventually(() -> pair.client().counters().backPressureStalls() > stalls);
      assertThat(waiting.task()).isNotDone();
      for (SendRegion region : regions) {
        sender.sendAsync(region);
      }
      for (int i = 0; i < ALL_OF_SMALLEST + 1; i++) {
        pair.server().receiver().receive(PATIENCE).close();
      }
      assertThat(waiting.result()).isPositive();
    }
  }

  @Test
  void whereRegionsPassBetweenThreadsNoWaitFails() throws Exception {
    Pair pair = connect("ring", "4KiB");
    Sender sender = pair.client().sender();
    SendRegion handed = sender.claim(8);
    Worker.start(() -> sender.sendAsync(handed)).result();
    pair.server().receiver().receive(PATIENCE).close();
    SendRegion[] regions = claim(sender, ALL_OF_SMALLEST);
    assertThatThrownBy(() -> sender.claim(8, Duration.ofMillis(300)))
        .isInstanceOf(OperationTimeoutException.class);
    for (SendRegion region : regions) {
      region.abort();
    }
  }

  /** With few records a thread is always about to send while others find no room. */
  @Test
  void threadsThatAllSendAndWaitNeverFail() throws Exception {
    Pair pair = connect("ring", "4KiB", "buffer", "16KiB");
    Sender sender = pair.client().sender();
    List<Worker<Boolean>> workers = new ArrayList<>();
    int each = 5_000;
    for (int i = 0; i < 8; i++) {
      Random random = new Random(i);
      workers.add(
          Worker.start(() -> {
            for (int number = 0; number < each; number++) {
              int length = random.nextInt(random.nextBoolean() ? 100 : 10_000);
              sender.sendAsync(sender.claim(length));
            }
            return true;
          }));
    }
    for (int i = 0; i < 8 * each; i++) {
      pair.server().receiver().receive(PATIENCE).close();
    }
    for (Worker<Boolean> worker : workers) {
      assertThat(worker.result()).isTrue();
    }
  }

  // -- allocation
  // ----------------------------------------------------------------------------------

  /**
   * All threads wait for each other and for the receiver, too; two of them would suffice for a
   * leak.
   */
  @Test
  void severalThreadsAllocateNothing() throws Exception {
    Pair pair = connect();
    Sender sender = pair.client().sender();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    int messages = 50_000;
    long deadline = System.nanoTime() + PATIENCE.toNanos(); // C2 may be late on a busy machine
    List<Worker<Long>> workers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      workers.add(
          Worker.start(() -> {
            long least = Long.MAX_VALUE;
            while (least >= 1_024 && System.nanoTime() - deadline < 0) {
              long before = threads.getCurrentThreadAllocatedBytes();
              for (int number = 0; number < messages; number++) {
                SendRegion region = sender.claim(40);
                region.buffer().set(ValueLayout.JAVA_LONG_UNALIGNED, region.offset(), number);
                sender.sendAsync(region);
              }
              least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            return least;
          }));
    }
    while (workers.stream().anyMatch(worker -> worker.thread().isAlive())) {
      pair.server().receiver().poll((buffer, offset, length) -> {}, 1_000);
    }
    for (Worker<Long> worker : workers) {
      assertThat(worker.result()).as("bytes in %d messages", messages).isLessThan(1_024);
    }
  }

  @Test
  void anOptionThatIsNeitherOnNorOffIsNamed() {
    assertThatThrownBy(() -> connect("concurrentSenders", "four"))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("concurrentSenders");
  }
}
