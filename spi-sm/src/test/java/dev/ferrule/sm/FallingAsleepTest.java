// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.sm.ring.RingTestHook;
import dev.ferrule.sm.ring.RingTestPoint;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Receivers that go to sleep, of one connection or of all connections of a listener. Keepalives are
 * off, because a receiver that misses a wake-up would check again at the next one: here it sleeps
 * forever.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FallingAsleepTest {

  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final long SEED = Long.getLong("ferrule.soak.seed", System.nanoTime());
  private static final int MESSAGES = 3_000 * Integer.getInteger("ferrule.soak.rounds", 1);
  private static final int IDLE_SECONDS = Integer.getInteger("ferrule.soak.idleSeconds", 1);

  /**
   * While no message arrives, all threads of the provider together may use 1/{@code IDLE_PARTS} of
   * the processor time that another thread uses.
   */
  private static final int IDLE_PARTS = 10;

  private static final int SENDERS = 4;

  /** Of this many messages of a sender, one is sent only when the receiver is asleep. */
  private static final int ASLEEP_EACH = 10;

  /** The receiver under test. */
  private enum Mode {
    /** A connection's own, from one thread. */
    ONE(1, "singleReceiver", "off"),
    /** A connection's own, from several senders. */
    LANES(1, "singleReceiver", "off"),
    /** A listener's, from several connections. */
    MANY(SENDERS, "singleReceiver", "on");

    private final int connections;
    private final String option;
    private final String value;

    Mode(int connections, String option, String value) {
      this.connections = connections;
      this.option = option;
      this.value = value;
    }

    int threads() {
      return this == ONE ? 1 : SENDERS;
    }
  }

  /** A point of falling asleep. */
  private enum Point {
    /** It has found no message, but not yet announced its sleep. */
    BEFORE_ARMING,
    /** It has announced its sleep, perhaps not to all senders yet, but not checked again. */
    AFTER_ARMING,
    /** It has checked again. */
    AFTER_THE_LAST_CHECK,
    /**
     * It has found that no thread has woken it meanwhile, and is about to sleep without a timeout.
     */
    BEFORE_IT_SLEEPS,
    /** It was woken, or has found a message, and is about to revoke the announcement. */
    BEFORE_DISARMING
  }

  /** An action to be run once, by the receiving thread, when it reaches a point. */
  private record Plan(Thread thread, Point point, Runnable action) {}

  private final SmUnderTest addresses = new SmUnderTest();
  private final AtomicReference<Plan> plan = new AtomicReference<>();
  private volatile boolean armed; // by the thread that is to reach the point

  @BeforeEach
  void watch() {
    RingTestHook.onReached(this::reached);
  }

  @AfterEach
  void removeDirectory() {
    RingTestHook.ignore();
    addresses.close();
  }

  private void receiverIs(Point point) {
    Plan known = plan.get();
    if (known != null
        && known.point == point
        && known.thread == Thread.currentThread()
        && plan.compareAndSet(known, null)) {
      known.action.run();
    }
  }

  private void reached(RingTestPoint step) {
    switch (step) {
      case SLEEP_BEGINS -> receiverIs(Point.BEFORE_ARMING);
      case SLEEP_ANNOUNCED -> {
        armed = true;
        receiverIs(Point.AFTER_ARMING);
      }
      case NOTHING_FOUND -> {
        if (armed) {
          receiverIs(Point.AFTER_THE_LAST_CHECK);
        }
      }
      case SLEEP_CHECKED -> receiverIs(Point.BEFORE_IT_SLEEPS);
      case SLEEP_ENDS -> {
        receiverIs(Point.BEFORE_DISARMING);
        armed = false;
      }
      default -> {}
    }
  }

  /** Both ends of the connections, and the receiver of all of them. */
  private final class Star implements AutoCloseable {
    private final Listener listener;
    private final List<Connection> clients = new ArrayList<>();
    private final List<Connection> servers = new ArrayList<>();
    private final List<Sender> senders = new ArrayList<>();
    private final Receiver receiver;

    private Star(Mode mode) {
      ConnectionOptions options =
          ConnectionOptions.builder()
              .set("ring", "16KiB")
              .set(mode.option, mode.value)
              .set(StandardOptions.PEER_TIMEOUT, Duration.ZERO)
              .set(StandardOptions.MAX_MESSAGE, 64L)
              .set(StandardOptions.WAIT, WaitStrategy.BLOCK)
              .build();
      listener = Ferrule.listen(addresses.listenAddress(), options);
      for (int i = 0; i < mode.connections; i++) {
        CompletableFuture<Connection> connecting =
            inBackground(() -> Ferrule.connect(listener.uri(), options));
        servers.add(listener.accept(PATIENCE));
        clients.add(connecting.join());
        senders.add(clients.getLast().sender());
      }
      while (senders.size() < mode.threads()) {
        senders.add(clients.getFirst().newSender());
      }
      receiver = mode == Mode.MANY ? listener.receiver() : servers.get(0).receiver();
    }

    private Sender sender(int number) {
      return senders.get(number % senders.size());
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

  private static CompletableFuture<Void> inBackground(Runnable work) {
    return CompletableFuture.runAsync(work, task -> Thread.ofPlatform().daemon().start(task));
  }

  /** Sends when the receiver sleeps; or at once if it has already woken up, which is permitted. */
  private static CompletableFuture<Void> sendWhenAsleep(
      Sender sender, Thread receiver, BooleanSupplier awake) {
    return inBackground(() -> {
      while (!Sleepers.isAsleep(receiver) && !awake.getAsBoolean()) {
        LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(50));
      }
      send(sender, 0, -1);
    });
  }

  /** Waits until a thread sleeps, or has ended. */
  private static void awaitAsleep(Thread thread) {
    while (!Sleepers.isAsleep(thread) && thread.isAlive()) {
      Thread.yield();
    }
  }

  private static void spinUntil(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait();
    }
  }

  private static void send(Sender through, int sender, int number) {
    through.send(MemorySegment.ofArray(new int[] {sender, number}));
  }

  private static int number(ReceiveRegion message) {
    return message.segment().get(ValueLayout.JAVA_INT_UNALIGNED, Integer.BYTES);
  }

  @ParameterizedTest
  @CsvSource({
    "ONE, BEFORE_ARMING",
    "ONE, AFTER_ARMING",
    "ONE, AFTER_THE_LAST_CHECK",
    "ONE, BEFORE_IT_SLEEPS",
    "ONE, BEFORE_DISARMING",
    "LANES, BEFORE_ARMING",
    "LANES, AFTER_ARMING",
    "LANES, AFTER_THE_LAST_CHECK",
    "LANES, BEFORE_IT_SLEEPS",
    "LANES, BEFORE_DISARMING",
    "MANY, BEFORE_ARMING",
    "MANY, AFTER_ARMING",
    "MANY, AFTER_THE_LAST_CHECK",
    "MANY, BEFORE_IT_SLEEPS",
    "MANY, BEFORE_DISARMING"
  })
  void aMessageThatArrivesAtAnyPointOfFallingAsleepIsReceived(Mode mode, Point point) {
    try (Star star = new Star(mode)) {
      for (int round = 0; round < 5 * SENDERS; round++) {
        int now = round;
        AtomicBoolean there = new AtomicBoolean();
        // the message; or a second one behind it, if the first is to end the sleep
        boolean second = point == Point.BEFORE_DISARMING;
        CompletableFuture<Void> first =
            second
                ? sendWhenAsleep(star.sender(now + 1), Thread.currentThread(), there::get)
                : CompletableFuture.completedFuture(null);
        plan.set(
            new Plan(
                Thread.currentThread(),
                point,
                () -> {
                  there.set(true);
                  // by spinning, because a park would consume the permit that unparks the receiver
                  spinUntil(first::isDone);
                  spinUntil(inBackground(() -> send(star.sender(now), 0, now))::isDone);
                  if (now % 2 == 0) { // the wake-up has arrived by the time that it sleeps
                    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(2);
                    spinUntil(() -> System.nanoTime() - end >= 0);
                  }
                }));
        for (int i = second ? 2 : 1; i > 0; i--) {
          try (ReceiveRegion message = star.receiver.receive(PATIENCE)) {
            assertThat(number(message)).isIn(-1, now);
          }
        }
        assertThat(plan.get()).as("the receiver has reached the point").isNull();
      }
    }
  }

  /**
   * After each message, a sender waits for about as long as the receiver takes to fall asleep.
   * Before some messages it waits until the receiver sleeps, so that there are wake-ups on a
   * machine of any speed.
   */
  @ParameterizedTest
  @EnumSource
  void noMessageThatArrivesWhileTheReceiverFallsAsleepIsMissed(Mode mode) throws Exception {
    System.out.println(getClass().getSimpleName() + ": seed " + SEED + ", " + mode);
    try (Star star = new Star(mode)) {
      Thread receiving = Thread.currentThread();
      AtomicIntegerArray next = new AtomicIntegerArray(mode.threads()); // of each sender
      List<CompletableFuture<Void>> sending = new ArrayList<>();
      for (int i = 0; i < mode.threads(); i++) {
        int me = i;
        SplittableRandom random = new SplittableRandom(SEED + me);
        sending.add(
            inBackground(() -> {
              for (int number = 0; number < MESSAGES; number++) {
                if (number % ASLEEP_EACH == 0) {
                  awaitReceived(next, me, number);
                  awaitAsleep(receiving);
                } else {
                  pause(random);
                }
                send(star.sender(me), me, number);
              }
            }));
      }
      for (int received = 0; received < MESSAGES * mode.threads(); received++) {
        try (ReceiveRegion message = star.receiver.receive(PATIENCE)) {
          int sender = message.segment().get(ValueLayout.JAVA_INT_UNALIGNED, 0);
          assertThat(number(message)).isEqualTo(next.get(sender));
          next.incrementAndGet(sender);
        }
      }
      for (CompletableFuture<Void> each : sending) {
        each.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      }
      long wakeUps =
          star.clients.stream().mapToLong(c -> c.counters().wakeupsSent().orElseThrow()).sum();
      // all senders may have waited for the same sleep
      assertThat(wakeUps).as("wake-ups").isGreaterThan(MESSAGES / ASLEEP_EACH / 2);
    }
  }

  /** Waits until all messages of a sender are received: the next sleep is another one. */
  private static void awaitReceived(AtomicIntegerArray next, int sender, int number) {
    while (next.get(sender) < number) {
      Thread.yield();
    }
  }

  /** Waits between zero and half a millisecond, mostly a few microseconds. */
  private static void pause(SplittableRandom random) {
    long nanos = 1L << random.nextInt(20);
    long end = System.nanoTime() + random.nextLong(nanos);
    if (nanos > 1 << 16) {
      LockSupport.parkNanos(end - System.nanoTime());
      return;
    }
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }

  /** Measures the receiving thread, and the endpoint's thread, which handles wake-ups. */
  @ParameterizedTest
  @EnumSource
  void aReceiverThatWaitsForLongUsesNoProcessorAndWakesUpAtOnce(Mode mode) throws Exception {
    try (Star star = new Star(mode)) {
      ThreadMXBean threads = ManagementFactory.getThreadMXBean();
      Thread receiving = Thread.ofPlatform().daemon().start(() -> star.receiver.receive().close());
      List<Long> ids = new ArrayList<>();
      ids.add(receiving.threadId());
      Thread.getAllStackTraces().keySet().stream()
          .filter(thread -> thread.getName().startsWith("ferrule-sm "))
          .forEach(thread -> ids.add(thread.threadId()));
      assertThat(ids.size()).isGreaterThanOrEqualTo(3); // an endpoint on each side
      awaitAsleep(receiving);

      Duration limit = Duration.ofSeconds(IDLE_SECONDS).dividedBy(IDLE_PARTS);
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      Duration used = usedWhileThisThreadSpins(threads, ids);
      while (used.compareTo(limit) >= 0 && System.nanoTime() - deadline < 0) {
        // the first may include the end of the handshake
        used = usedWhileThisThreadSpins(threads, ids);
      }

      assertThat(receiving.isAlive()).isTrue();
      assertThat(used).isLessThan(limit);
      send(star.sender(SENDERS - 1), 0, 0);
      assertThat(receiving.join(PATIENCE)).isTrue();
    }
  }

  /**
   * Returns the processor time that threads use while this one uses {@link #IDLE_SECONDS}. A thread
   * that spins uses about as much as this one, however busy the machine is.
   */
  private static Duration usedWhileThisThreadSpins(ThreadMXBean threads, List<Long> ids) {
    long before = cpuNanos(threads, ids);
    long end = threads.getCurrentThreadCpuTime() + TimeUnit.SECONDS.toNanos(IDLE_SECONDS);
    while (threads.getCurrentThreadCpuTime() < end) {
      Thread.onSpinWait();
    }
    return Duration.ofNanos(cpuNanos(threads, ids) - before);
  }

  private static long cpuNanos(ThreadMXBean threads, List<Long> ids) {
    return ids.stream().mapToLong(threads::getThreadCpuTime).sum();
  }
}
