// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.JJJJ_Result;
import org.openjdk.jcstress.infra.results.JJ_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * The effects that several sending threads may observe of each other and of the receiver, for
 * jcstress; run by {@link RingConcurrencyTest}.
 */
public final class SeveralSendersStress {

  private static final RingLayout LAYOUT = new RingLayout(5, 16, 512);
  private static final RingLayout WITH_INLINE = new RingLayout(11, 16, 512);
  private static final int ALL = Integer.MAX_VALUE;
  private static final long FIRST = 0x1111111111111111L;
  private static final long SECOND = 0x2222222222222222L;

  private SeveralSendersStress() {}

  private static byte[] message(int length, long value) {
    byte[] bytes = new byte[length];
    MemorySegment view = MemorySegment.ofArray(bytes);
    view.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, value);
    view.set(ValueLayout.JAVA_LONG_UNALIGNED, length - 8, value);
    return bytes;
  }

  /** Receives a message; returns its value, 0 if there is none, and -1 if it is torn. */
  private static long receive(SharedRings rings) {
    if (!rings.consumer.next()) {
      return 0;
    }
    MemorySegment memory = rings.consumer.messageMemory();
    long offset = rings.consumer.messageOffset();
    long begin = memory.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    long end =
        memory.get(
            ValueLayout.JAVA_LONG_UNALIGNED, offset + rings.consumer.messageLength() - Long.BYTES);
    rings.take();
    return begin == end ? begin : -1;
  }

  /** Two threads that send at once: each gets its own position. */
  @JCStressTest
  @Outcome(
      id = {"1, 2, " + FIRST + ", " + SECOND, "2, 1, " + SECOND + ", " + FIRST},
      expect = Expect.ACCEPTABLE,
      desc = "one after the other")
  @Outcome(expect = Expect.FORBIDDEN, desc = "lost, duplicated, torn, or not in order of ids")
  @State
  public static class Publish {
    private final SharedRings rings = new SharedRings(WITH_INLINE);
    private final byte[] first = message(100, FIRST);
    private final byte[] second = message(200, SECOND);

    /**
     * Sends.
     *
     * @param result the id
     */
    @Actor
    public void one(JJJJ_Result result) {
      result.r1 = rings.send(first);
    }

    /**
     * Sends.
     *
     * @param result the id
     */
    @Actor
    public void other(JJJJ_Result result) {
      result.r2 = rings.send(second);
    }

    /**
     * Receives.
     *
     * @param result the messages
     */
    @Arbiter
    public void receiver(JJJJ_Result result) {
      result.r3 = receive(rings);
      result.r4 = receive(rings);
    }
  }

  /** Two threads that own the lock after a single acquisition, and revoke it from each other. */
  @JCStressTest
  @Outcome(
      id = "true, true",
      expect = Expect.ACCEPTABLE,
      desc = "all arrive, each thread's in order")
  @Outcome(expect = Expect.FORBIDDEN, desc = "lost, duplicated, torn, or out of order")
  @State
  public static class Ownership {
    private static final int EACH = 4;

    private final SharedRings rings =
        new SharedRings(
            new RingLayout(10, 16, 100), new RecordLock.Policy(10, 1_000, 1_000_000_000_000L, 1));
    private final long[] ids = new long[2 * EACH];

    private void send(int thread) {
      for (int i = 0; i < EACH; i++) {
        ids[thread * EACH + i] = rings.send(message(16, 1 + thread * EACH + i));
      }
    }

    /** Sends. */
    @Actor
    public void one() {
      send(0);
    }

    /** Sends. */
    @Actor
    public void other() {
      send(1);
    }

    /**
     * Receives.
     *
     * @param result whether each message is at the position of its id, and there is no other
     */
    @Arbiter
    public void receiver(ZZ_Result result) {
      boolean right = true;
      long[] last = new long[2];
      for (int place = 1; place <= 2 * EACH; place++) {
        int value = (int) receive(rings);
        int thread = (value - 1) / EACH;
        right &= value > 0 && ids[value - 1] == place && value > last[thread];
        if (value > 0) {
          last[thread] = value;
        }
      }
      result.r1 = right;
      result.r2 = receive(rings) == 0;
    }
  }

  /** The receiver sees a message completely or not at all. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "none is visible yet")
  @Outcome(id = FIRST + ", 0", expect = Expect.ACCEPTABLE, desc = "the first is visible")
  @Outcome(id = FIRST + ", " + SECOND, expect = Expect.ACCEPTABLE, desc = "both are visible")
  @Outcome(expect = Expect.FORBIDDEN, desc = "torn, lost or duplicated")
  @State
  public static class Receive {
    private final SharedRings rings = new SharedRings(WITH_INLINE);
    private final byte[] first = message(100, FIRST);
    private final byte[] second = message(200, SECOND);

    /** Sends. */
    @Actor
    public void sender() {
      rings.send(first);
      rings.send(second);
    }

    /**
     * Receives.
     *
     * @param result the messages
     */
    @Actor
    public void receiver(JJ_Result result) {
      result.r1 = receive(rings);
      result.r2 = result.r1 == 0 ? 0 : receive(rings);
    }
  }

  /** The last record is claimed by one of two threads. */
  @JCStressTest
  @Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "the first thread")
  @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "the second thread")
  @Outcome(expect = Expect.FORBIDDEN, desc = "both, or neither")
  @State
  public static class LastRecord {
    private final SharedRings rings = new SharedRings(LAYOUT);

    /** Claims all records but one. */
    public LastRecord() {
      for (int i = 1; i < SharedRings.records(LAYOUT); i++) {
        rings.producer.reserve(8);
      }
    }

    private int claim() {
      return rings.producer.reserve(8) == ConcurrentRingProducer.FULL ? 0 : 1;
    }

    /**
     * Claims.
     *
     * @param result whether there was room
     */
    @Actor
    public void one(II_Result result) {
      result.r1 = claim();
    }

    /**
     * Claims.
     *
     * @param result whether there was room
     */
    @Actor
    public void other(II_Result result) {
      result.r2 = claim();
    }
  }

  /** A released run is consumed once, and goes to one of two threads that claim room. */
  @JCStressTest
  @Outcome(id = "0, -2", expect = Expect.ACCEPTABLE, desc = "the first thread")
  @Outcome(id = "-2, 0", expect = Expect.ACCEPTABLE, desc = "the second thread")
  @Outcome(expect = Expect.FORBIDDEN, desc = "the same lines for both, or for none")
  @State
  public static class Release {
    private final SharedRings rings = new SharedRings(new RingLayout(5, 1, 8));

    /** Sends as many messages as there are lines, and frees them. */
    public Release() {
      rings.send(new byte[8]);
      rings.receive();
    }

    /**
     * Claims.
     *
     * @param result the line
     */
    @Actor
    public void one(II_Result result) {
      result.r1 = rings.producer.reserve(8);
    }

    /**
     * Claims.
     *
     * @param result the line
     */
    @Actor
    public void other(II_Result result) {
      result.r2 = rings.producer.reserve(8);
    }
  }

  /** Two runs that cross words and overlap: one is allocated, or the higher one of those tried. */
  @JCStressTest
  @Outcome(id = "0, -1, 0", expect = Expect.ACCEPTABLE, desc = "the first thread")
  @Outcome(id = "-1, 0, 0", expect = Expect.ACCEPTABLE, desc = "the second thread")
  @Outcome(expect = Expect.FORBIDDEN, desc = "both, or lines are lost")
  @State
  public static class Runs {
    private final ConcurrentLineAllocator allocator = new ConcurrentLineAllocator(192);

    /**
     * Allocates more than half.
     *
     * @param result the line
     */
    @Actor
    public void one(III_Result result) {
      result.r1 = allocator.allocate(130, ALL);
    }

    /**
     * Allocates more than half.
     *
     * @param result the line
     */
    @Actor
    public void other(III_Result result) {
      result.r2 = allocator.allocate(150, ALL);
    }

    /**
     * Counts the lines.
     *
     * @param result whether any line is missing
     */
    @Arbiter
    public void accounts(III_Result result) {
      result.r3 = allocator.countClaimed(line -> true) == 1 ? 0 : 1;
    }
  }

  /** A run is freed once, regardless of the number of threads that free it. */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 0", "0, 1, 0"},
      expect = Expect.ACCEPTABLE,
      desc = "once")
  @Outcome(expect = Expect.FORBIDDEN, desc = "twice, or never")
  @State
  public static class Free {
    private final ConcurrentLineAllocator allocator = new ConcurrentLineAllocator(192);

    /** Allocates some lines. */
    public Free() {
      allocator.commit(allocator.allocate(100, ALL));
    }

    /**
     * Frees the run.
     *
     * @param result whether it was freed
     */
    @Actor
    public void one(III_Result result) {
      result.r1 = allocator.release(0) ? 1 : 0;
    }

    /**
     * Frees the run.
     *
     * @param result whether it was freed
     */
    @Actor
    public void other(III_Result result) {
      result.r2 = allocator.release(0) ? 1 : 0;
    }

    /**
     * Allocates everything.
     *
     * @param result the line
     */
    @Arbiter
    public void all(III_Result result) {
      result.r3 = allocator.allocate(192, ALL);
    }
  }

  /** A thread that goes to sleep for lack of room is notified of it, or sees it. */
  @JCStressTest
  @Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "the wake-up is lost")
  @Outcome(expect = Expect.ACCEPTABLE, desc = "one of them sees the other")
  @State
  public static class SleepForRoom {
    private final SharedRings rings = new SharedRings(new RingLayout(5, 1, 8));
    private final int held;

    /** Sends as many messages as there are lines, and receives them. */
    public SleepForRoom() {
      rings.send(new byte[8]);
      rings.consumer.next();
      held = rings.take();
    }

    /**
     * Frees the lines.
     *
     * @param result whether the sender must be woken
     */
    @Actor
    public void receiver(ZZ_Result result) {
      result.r1 = rings.consumer.release(held);
    }

    /**
     * Announces the sleep and checks again.
     *
     * @param result whether there is room
     */
    @Actor
    public void sender(ZZ_Result result) {
      rings.producer.armSleep();
      result.r2 = rings.producer.reserve(8) != ConcurrentRingProducer.FULL;
    }
  }

  /** A receiver that goes to sleep is seen by a sender, or sees the message. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "the wake-up is lost")
  @Outcome(expect = Expect.ACCEPTABLE, desc = "one of them sees the other")
  @State
  public static class SleepForMessage {
    private final SharedRings rings = new SharedRings(WITH_INLINE);
    private final byte[] message = new byte[8];

    private int send() {
      rings.send(message);
      int flag = rings.producer.receiverAsleep();
      if (flag == 0) {
        return 0;
      }
      rings.producer.receiverTold(flag);
      return 1;
    }

    /**
     * Sends.
     *
     * @param result whether it has seen that the receiver sleeps
     */
    @Actor
    public void one(II_Result result) {
      result.r1 = send();
    }

    /**
     * Announces the sleep and checks again.
     *
     * @param result whether there is a message
     */
    @Actor
    public void receiver(II_Result result) {
      rings.consumer.armSleep(false);
      result.r2 = rings.consumer.next() ? 1 : 0;
    }
  }
}
