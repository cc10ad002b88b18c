// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.PosixException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The lock of a ring is revoked from a thread that stops while it holds it. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CutOffTest {

  private static final RingLayout LAYOUT = new RingLayout(10, 256, 3_000);
  private static final byte FIRST = 1;
  private static final byte SECOND = 2;

  /** Short limits: a few checks, two pauses, a millisecond. */
  private static RecordLock.Policy policy(int streak) {
    return new RecordLock.Policy(10, 2, 1_000_000, streak);
  }

  /** Stops threads of a test, each at one step, until it lets them continue. */
  private static final class Stops implements Consumer<RingStep> {

    private final List<Stop> stops = new ArrayList<>();
    private final AtomicInteger replaced = new AtomicInteger();

    private record Stop(
        Thread thread, RingStep step, CountDownLatch reached, CountDownLatch released) {}

    @Override
    public void accept(RingStep step) {
      if (step == RingStep.SHARED_REPLACED) {
        replaced.incrementAndGet();
      }
      Stop stop;
      synchronized (stops) {
        stop =
            stops.stream()
                .filter(one -> one.thread == Thread.currentThread() && one.step == step)
                .findFirst()
                .orElse(null);
      }
      if (stop != null && stop.reached.getCount() > 0) {
        stop.reached.countDown();
        await(stop.released);
      }
    }

    /** Starts a thread, and returns when it has stopped. */
    Sending start(RingStep step, LongSupplier work) {
      CompletableFuture<Long> id = new CompletableFuture<>();
      Thread thread = new Thread(() -> id.complete(work.getAsLong()), "stops at " + step);
      Stop stop = add(thread, step);
      thread.setDaemon(true);
      thread.start();
      await(stop.reached);
      return new Sending(thread, stop.released, id);
    }

    private Stop add(Thread thread, RingStep step) {
      Stop stop = new Stop(thread, step, new CountDownLatch(1), new CountDownLatch(1));
      synchronized (stops) {
        stops.add(stop);
      }
      return stop;
    }

    /** Lets a thread that has stopped go on, and returns when it has stopped again. */
    Sending goOn(Sending stopped, RingStep step) {
      Stop stop = add(stopped.thread, step);
      stopped.released.countDown();
      await(stop.reached);
      return new Sending(stopped.thread, stop.released, stopped.id);
    }

    private static void await(CountDownLatch latch) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  private record Sending(Thread thread, CountDownLatch released, CompletableFuture<Long> id) {
    long goOn() {
      released.countDown();
      return id.orTimeout(90, TimeUnit.SECONDS).join();
    }
  }

  private final Stops stops = new Stops();

  private SharedRings rings(int streak) {
    return SharedRings.mapped(LAYOUT, policy(streak), stops);
  }

  private static byte[] message(int length, byte value) {
    return Rings.message(length, value);
  }

  private static boolean isVisibleAt(RingStep step) {
    return step == RingStep.SHARED_PUBLISHED || step == RingStep.SHARED_COUNTED;
  }

  @ParameterizedTest
  @EnumSource(names = {"SHARED_ENTERED", "RECORD_WRITTEN", "SHARED_PUBLISHED", "SHARED_COUNTED"})
  void aThreadThatStopsWithTheLockIsCutOffAndItsMessageArrivesOnce(RingStep step) throws Exception {
    for (int length : new int[] {40, 1_000}) {
      for (int streak : new int[] {1, 1_000}) { // the thread owns the lock, or not
        SharedRings rings = rings(streak);
        assertThat(rings.send(message(8, (byte) 9))).isEqualTo(1);
        assertThat(rings.receive()).isEqualTo(message(8, (byte) 9));
        // a claim takes the lock too, for its record
        int line = length > rings.producer.inlineMax() ? rings.producer.reserve(length) : -1;
        Sending stopped =
            stops.start(
                step,
                () ->
                    line < 0
                        ? rings.send(message(length, FIRST))
                        : rings.publish(line, message(length, FIRST)));

        long second = rings.send(message(24, SECOND));

        if (isVisibleAt(step)) {
          assertThat(second).isEqualTo(3);
          assertThat(rings.receive()).isEqualTo(message(length, FIRST));
          assertThat(rings.receive()).isEqualTo(message(24, SECOND));
          assertThat(stopped.goOn()).isEqualTo(2);
        } else {
          assertThat(second).isEqualTo(2);
          assertThat(rings.receive()).isEqualTo(message(24, SECOND));
          assertThat(rings.consumer.next()).isFalse();
          assertThat(stopped.goOn()).isEqualTo(3);
          assertThat(rings.receive()).isEqualTo(message(length, FIRST));
        }
        assertThat(rings.consumer.next()).isFalse();
        assertThat(rings.producer.messagesPublished()).isEqualTo(3);
        assertThat(rings.producer.bytesPublished()).isEqualTo(8 + length + 24);
        hasAllItsRoom(rings);
      }
    }
  }

  private static void hasAllItsRoom(SharedRings rings) {
    for (int lap = 0; lap < 3; lap++) {
      int count = 0;
      while (rings.send(new byte[0]) != 0) {
        count++;
      }
      assertThat(count).as("records of 8 bytes").isEqualTo(SharedRings.records(LAYOUT));
      for (int i = 0; i < count; i++) {
        assertThat(rings.receive()).isEmpty();
      }
    }
  }

  @Test
  void aThreadThatStopsBeforeItsClaimIsCountedClaimsAnew() throws Exception {
    SharedRings rings = rings(1_000);
    Sending stopped = stops.start(RingStep.SHARED_ENTERED, () -> rings.producer.reserve(100));
    assertThat(rings.send(message(24, SECOND))).isEqualTo(1);
    int line = (int) stopped.goOn();
    assertThat(rings.publish(line, message(100, FIRST))).isEqualTo(2);
    assertThat(rings.receive()).isEqualTo(message(24, SECOND));
    assertThat(rings.receive()).isEqualTo(message(100, FIRST));
    hasAllItsRoom(rings);
  }

  /** Its stores go to private memory then, and count for no other thread. */
  @ParameterizedTest
  @EnumSource(names = {"SHARED_OUT_OF_PATIENCE", "SHARED_REPLACED"})
  void aThreadThatGoesOnWhileItIsCutOffSendsItsMessageOnce(RingStep cutter) throws Exception {
    SharedRings rings = rings(1_000);
    Sending stopped = stops.start(RingStep.RECORD_WRITTEN, () -> rings.send(message(40, FIRST)));
    Sending cutting = stops.start(cutter, () -> rings.send(message(24, SECOND)));

    long first = stopped.goOn();
    assertThat(first).isEqualTo(1);
    assertThat(rings.send(message(16, (byte) 3))).isEqualTo(2);
    assertThat(cutting.goOn()).isEqualTo(3);

    assertThat(rings.receive()).isEqualTo(message(40, FIRST));
    assertThat(rings.receive()).isEqualTo(message(16, (byte) 3));
    assertThat(rings.receive()).isEqualTo(message(24, SECOND));
    assertThat(rings.consumer.next()).isFalse();
    hasAllItsRoom(rings);
  }

  @Test
  void severalThreadsMayStopOneAfterTheOther() throws Exception {
    SharedRings rings = rings(1_000);
    List<Sending> stopped = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      byte value = (byte) (10 + i);
      stopped.add(stops.start(RingStep.RECORD_WRITTEN, () -> rings.send(message(8, value))));
    }
    assertThat(rings.send(message(24, SECOND))).isEqualTo(1);
    assertThat(rings.receive()).isEqualTo(message(24, SECOND));
    for (int i = 4; i >= 0; i--) {
      assertThat(stopped.get(i).goOn()).isEqualTo(6 - i);
      assertThat(rings.receive()).isEqualTo(message(8, (byte) (10 + i)));
    }
    assertThat(stops.replaced).as("new mappings of the records").hasValueBetween(5, 20);
  }

  @Test
  void aRingThatHasGoneRoundManyTimesIsContinuedWhereTheThreadHasStopped() throws Exception {
    SharedRings rings = rings(10);
    for (int i = 0; i < 10_000; i++) {
      byte[] message = Rings.message(i % 100, i);
      assertThat(rings.send(message)).isEqualTo(i + 1);
      assertThat(rings.receive()).isEqualTo(message);
    }
    for (int i = 0; i < 7; i++) {
      assertThat(rings.send(Rings.message(60, i))).isPositive();
    }
    Sending stopped = stops.start(RingStep.SHARED_PUBLISHED, () -> rings.send(message(90, FIRST)));
    assertThat(rings.send(message(24, SECOND))).isEqualTo(10_009);
    for (int i = 0; i < 7; i++) {
      assertThat(rings.receive()).isEqualTo(Rings.message(60, i));
    }
    assertThat(rings.receive()).isEqualTo(message(90, FIRST));
    assertThat(rings.receive()).isEqualTo(message(24, SECOND));
    assertThat(stopped.goOn()).isEqualTo(10_008);
    hasAllItsRoom(rings);
  }

  /** The receiver's program holds the message that lies where the next lap begins. */
  @Test
  void aMessageThatIsHeldIsNotOverwrittenByAClaimThatIsSentAfterACutOff() throws Exception {
    SharedRings rings = rings(1_000);
    byte[] kept = message(56, (byte) 7);
    assertThat(rings.send(kept)).isEqualTo(1);
    assertThat(rings.consumer.next()).isTrue();
    assertThat(rings.consumer.hold()).isTrue();
    MemorySegment held =
        rings.consumer.messageMemory().asSlice(rings.consumer.messageOffset(), kept.length);
    rings.take();
    for (int i = 2; i <= 16; i++) {
      assertThat(rings.send(message(56, (byte) i))).isEqualTo(i);
      assertThat(rings.receive()).isEqualTo(message(56, (byte) i));
    }
    int line = rings.producer.reserve(1_000);
    Sending stopped = stops.start(RingStep.SHARED_ENTERED, () -> rings.send(message(8, FIRST)));

    assertThat(rings.publish(line, message(1_000, SECOND))).isEqualTo(17);

    assertThat(held.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(kept);
    assertThat(rings.receive()).isEqualTo(message(1_000, SECOND));
    assertThat(stopped.goOn()).isEqualTo(18);
    assertThat(held.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(kept);
    assertThat(rings.receive()).isEqualTo(message(8, FIRST));
  }

  /** Records of which something is done when they are mapped again. */
  private record Hooked(RecordMemory records, Runnable onDuplicate, BooleanSupplier mayRetire)
      implements RecordMemory {
    @Override
    public long address() {
      return records.address();
    }

    @Override
    public RecordMemory duplicate() {
      onDuplicate.run();
      return new Hooked(records.duplicate(), onDuplicate, mayRetire);
    }

    @Override
    public boolean retire() {
      return mayRetire.getAsBoolean() && records.retire();
    }
  }

  /** It has made a new checkpoint then, and may have overwritten records behind the last one. */
  @Test
  void aThreadThatGoesOnBeforeItsRecordsAreTakenSendsItsMessageOnce() throws Exception {
    for (int before = 0; before < 150; before++) {
      AtomicReference<Sending> stopped = new AtomicReference<>();
      AtomicReference<Sending> published = new AtomicReference<>();
      SharedRings rings =
          SharedRings.mapped(
              LAYOUT,
              policy(1_000),
              stops,
              records ->
                  new Hooked(
                      records,
                      () -> {
                        Sending sending = stopped.getAndSet(null);
                        if (sending != null) {
                          published.set(stops.goOn(sending, RingStep.SHARED_PUBLISHED));
                        }
                      },
                      () -> true));
      for (int i = 1; i <= before; i++) {
        assertThat(rings.send(message(8, (byte) 9))).isEqualTo(i);
        assertThat(rings.receive()).isEqualTo(message(8, (byte) 9));
      }
      stopped.set(stops.start(RingStep.SHARED_ENTERED, () -> rings.send(message(100, FIRST))));

      assertThat(rings.send(message(24, SECOND))).isEqualTo(before + 2);

      assertThat(published.get().goOn()).isEqualTo(before + 1);
      assertThat(rings.receive()).isEqualTo(message(100, FIRST));
      assertThat(rings.receive()).isEqualTo(message(24, SECOND));
      assertThat(rings.consumer.next()).isFalse();
      assertThat(rings.producer.messagesPublished()).isEqualTo(before + 2);
    }
  }

  @Test
  void aThreadIsCutOffWhenThereIsMemoryForIt() throws Exception {
    AtomicInteger duplicates = new AtomicInteger();
    AtomicInteger retirements = new AtomicInteger();
    SharedRings rings =
        SharedRings.mapped(
            LAYOUT,
            policy(1_000),
            stops,
            records ->
                new Hooked(
                    records,
                    () -> {
                      if (duplicates.incrementAndGet() <= 3) {
                        throw new PosixException("mremap", "a test", 12);
                      }
                    },
                    () -> retirements.incrementAndGet() > 2));
    Sending stopped = stops.start(RingStep.RECORD_WRITTEN, () -> rings.send(message(40, FIRST)));

    assertThat(rings.send(message(24, SECOND))).isEqualTo(1);

    assertThat(duplicates).as("three failed, and one mapping is used for all attempts").hasValue(4);
    assertThat(rings.receive()).isEqualTo(message(24, SECOND));
    assertThat(stopped.goOn()).isEqualTo(2);
    assertThat(rings.receive()).isEqualTo(message(40, FIRST));
    hasAllItsRoom(rings);
  }

  /** Many threads stop for a moment with the lock, so that they are cut off all the time. */
  @ParameterizedTest
  @ValueSource(ints = {2, 1_000})
  void eachMessageArrivesOnceAndInOrderHoweverManyThreadsAreCutOff(int streak) {
    int threads = 4;
    int each = Integer.getInteger("ferrule.soak.cutOffs", 3_000);
    AtomicInteger replaced = new AtomicInteger();
    AtomicInteger steps = new AtomicInteger();
    SharedRings rings =
        SharedRings.mapped(
            LAYOUT,
            policy(streak),
            step -> {
              if (step == RingStep.SHARED_REPLACED) {
                replaced.incrementAndGet();
              }
              int count = steps.incrementAndGet();
              if (count == 50) { // at least once
                while (replaced.get() == 0) {
                  LockSupport.parkNanos(1_000_000);
                }
              } else if (count % 97 == 0) {
                LockSupport.parkNanos(3_000_000);
              }
            });
    List<CompletableFuture<Void>> sending = new ArrayList<>();
    for (int thread = 0; thread < threads; thread++) {
      int me = thread;
      sending.add(
          CompletableFuture.runAsync(
              () -> sendNumbered(rings, me, each), task -> new Thread(task).start()));
    }
    int[] next = new int[threads];
    for (int received = 0; received < threads * each; received++) {
      while (!rings.consumer.next()) {
        sending.stream()
            .filter(CompletableFuture::isCompletedExceptionally)
            .forEach(CompletableFuture::join);
        Thread.yield();
      }
      MemorySegment message = MemorySegment.ofArray(rings.receive());
      int thread = message.get(ValueLayout.JAVA_INT_UNALIGNED, 0);
      assertThat(message.get(ValueLayout.JAVA_INT_UNALIGNED, 4)).isEqualTo(next[thread]++);
      assertThat(message.byteSize()).isEqualTo(length(thread, next[thread] - 1));
    }
    sending.forEach(CompletableFuture::join);
    assertThat(rings.consumer.next()).isFalse();
    assertThat(rings.producer.messagesPublished()).isEqualTo((long) threads * each);
    assertThat(replaced).as("new mappings of the records").hasPositiveValue();
  }

  private static int length(int thread, int number) {
    return 8 + (number * 31 + thread * 7) % (number % 8 == 0 ? 1_000 : 100);
  }

  private static void sendNumbered(SharedRings rings, int thread, int count) {
    for (int number = 0; number < count; number++) {
      byte[] bytes = new byte[length(thread, number)];
      MemorySegment.ofArray(bytes).set(ValueLayout.JAVA_INT_UNALIGNED, 0, thread);
      MemorySegment.ofArray(bytes).set(ValueLayout.JAVA_INT_UNALIGNED, 4, number);
      while (rings.send(bytes) == 0) {
        Thread.yield();
      }
    }
  }
}
