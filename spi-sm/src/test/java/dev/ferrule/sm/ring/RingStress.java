// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import dev.ferrule.support.ReadinessDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import org.openjdk.jcstress.infra.results.Z_Result;

/**
 * The effects of a ring that two threads may observe, for jcstress; run by {@link
 * RingConcurrencyTest}.
 */
public final class RingStress {

  private static final RingLayout LAYOUT = new RingLayout(12, 16, 1_024);

  /** Much shorter than the delay of a real sleeper. */
  private static final long SECOND_CHECK_NANOS = 5_000;

  private static final long VALUE = 0x1122334455667788L;

  private RingStress() {}

  private static Rings rings(boolean fences) {
    return new Rings(LAYOUT, fences);
  }

  private static byte[] message(int length) {
    byte[] bytes = new byte[length];
    MemorySegment view = MemorySegment.ofArray(bytes);
    view.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, VALUE);
    view.set(ValueLayout.JAVA_LONG_UNALIGNED, length - 8, VALUE);
    return bytes;
  }

  private static void receive(Rings rings, JJ_Result result) {
    if (rings.consumer.next()) {
      MemorySegment memory = rings.consumer.messageMemory();
      long offset = rings.consumer.messageOffset();
      int length = rings.consumer.messageLength();
      result.r1 = memory.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
      result.r2 = memory.get(ValueLayout.JAVA_LONG_UNALIGNED, offset + length - 8);
    }
  }

  /** An inline message is visible completely or not at all. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "not visible yet")
  @Outcome(id = VALUE + ", " + VALUE, expect = Expect.ACCEPTABLE, desc = "visible, complete")
  @Outcome(expect = Expect.FORBIDDEN, desc = "torn")
  @State
  public static class Inline {
    private final Rings rings = rings(true);
    private final byte[] message = message(200);

    /** Sends. */
    @Actor
    public void sender() {
      rings.send(message);
    }

    /**
     * Receives.
     *
     * @param result the received message
     */
    @Actor
    public void receiver(JJ_Result result) {
      receive(rings, result);
    }
  }

  /**
   * Two messages that are sent directly, over old bytes that look like headers, become visible one
   * after the other and complete.
   */
  @JCStressTest
  @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "not visible yet")
  @Outcome(id = VALUE + ", 0", expect = Expect.ACCEPTABLE, desc = "the first is visible")
  @Outcome(id = VALUE + ", " + VALUE, expect = Expect.ACCEPTABLE, desc = "both are visible")
  @Outcome(expect = Expect.FORBIDDEN, desc = "torn, or old bytes read as a header")
  @State
  public static class Direct {
    private final Rings rings = rings(true);
    private final MemorySegment message = MemorySegment.ofArray(message(8));

    /** Fills the ring with headers, and the receiver consumes all of it. */
    public Direct() {
      fillWithHeaders(rings);
    }

    static void fillWithHeaders(Rings rings) {
      byte[] headers = new byte[504];
      MemorySegment view = MemorySegment.ofArray(headers);
      for (long at = 0; at < headers.length; at += Long.BYTES) {
        view.set(ValueLayout.JAVA_LONG_UNALIGNED, at, RecordHeader.inline(8));
      }
      for (int bytes = 0; bytes < LAYOUT.capacity(); bytes += 512) {
        rings.send(headers);
        rings.receive();
      }
    }

    /** Sends. */
    @Actor
    public void sender() {
      for (int i = 0; i < 2; i++) {
        if (rings.producer.trySend(message, 0, 8) == RingProducer.NOT_SENT) {
          rings.producer.reserve(8);
          rings.producer.stageInline(message, 0, 8, 8);
          rings.producer.publish();
        }
      }
    }

    /**
     * Receives.
     *
     * @param result the messages received by two polls
     */
    @Actor
    public void receiver(JJ_Result result) {
      receive(rings, result);
    }

    static void receive(Rings rings, JJ_Result result) {
      if (rings.consumer.pollInline((buffer, offset, length) -> result.r1 = get(buffer, offset), 1)
          == 1) {
        rings.consumer.pollInline((buffer, offset, length) -> result.r2 = get(buffer, offset), 1);
      }
    }

    private static long get(MemorySegment buffer, long offset) {
      return buffer.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }
  }

  /** A batch of two, over old bytes that look like headers, is visible completely or not at all. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "not visible yet")
  @Outcome(id = VALUE + ", " + VALUE, expect = Expect.ACCEPTABLE, desc = "both are visible")
  @Outcome(expect = Expect.FORBIDDEN, desc = "torn, one only, or old bytes read as a header")
  @State
  public static class BatchedCopies {
    private final Rings rings = rings(true);
    private final MemorySegment message = MemorySegment.ofArray(message(8));

    /** Fills the ring with headers, and the receiver consumes all of it. */
    public BatchedCopies() {
      Direct.fillWithHeaders(rings);
    }

    /** Sends. */
    @Actor
    public void sender() {
      for (int i = 0; i < 2; i++) {
        if (!rings.producer.tryStage(message, 0, 8)) {
          rings.producer.reserve(8);
          rings.producer.stageInline(message, 0, 8, 8);
        }
      }
      rings.producer.publish();
    }

    /**
     * Receives.
     *
     * @param result the messages received by two polls
     */
    @Actor
    public void receiver(JJ_Result result) {
      Direct.receive(rings, result);
    }
  }

  /** A receiver that sees the close finds the last message. */
  @JCStressTest
  @Outcome(id = "true, false", expect = Expect.FORBIDDEN, desc = "the last message is lost")
  @Outcome(expect = Expect.ACCEPTABLE, desc = "visible, or not closed yet")
  @State
  public static class Close {
    private final Rings rings = rings(true);
    private final MemorySegment message = MemorySegment.ofArray(message(8));

    /** Sends and closes. */
    @Actor
    public void sender() {
      rings.producer.trySend(message, 0, 8);
      rings.producer.markClosed(1);
    }

    /**
     * Checks for the close, and then for a message.
     *
     * @param result whether there were
     */
    @Actor
    public void receiver(ZZ_Result result) {
      result.r1 = rings.consumer.closeReason() != 0;
      result.r2 = rings.consumer.next();
    }
  }

  /** A message in payload lines is visible completely or not at all. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "not visible yet")
  @Outcome(id = VALUE + ", " + VALUE, expect = Expect.ACCEPTABLE, desc = "visible, complete")
  @Outcome(expect = Expect.FORBIDDEN, desc = "torn")
  @State
  public static class Lines {
    private final Rings rings = rings(true);
    private final byte[] message = message(1_000);

    /** Sends. */
    @Actor
    public void sender() {
      rings.send(message);
    }

    /**
     * Receives.
     *
     * @param result the received message
     */
    @Actor
    public void receiver(JJ_Result result) {
      receive(rings, result);
    }
  }

  /** Room that the receiver gives back is reused only after the receiver has read its contents. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "the ring was still full")
  @Outcome(id = VALUE + ", " + VALUE, expect = Expect.ACCEPTABLE, desc = "the old message")
  @Outcome(expect = Expect.FORBIDDEN, desc = "overwritten while it was read")
  @State
  public static class Reuse {
    private final Rings rings = rings(true);
    private final byte[] next = new byte[1_000];

    /** Fills the ring. */
    public Reuse() {
      byte[] message = message(1_000);
      while (rings.send(message)) {
        continue;
      }
    }

    /** Sends if there is room. */
    @Actor
    public void sender() {
      rings.send(next);
    }

    /**
     * Receives and frees.
     *
     * @param result the received message
     */
    @Actor
    public void receiver(JJ_Result result) {
      receive(rings, result);
      int line = rings.consumer.messageLine();
      rings.consumer.advance();
      rings.consumer.acknowledge();
      rings.consumer.release(line);
    }
  }

  /** A message that the receiver's program holds is not overwritten, although others are freed. */
  @JCStressTest
  @Outcome(id = VALUE + ", " + VALUE, expect = Expect.ACCEPTABLE, desc = "intact")
  @Outcome(expect = Expect.FORBIDDEN, desc = "overwritten while it was held")
  @State
  public static class Held {
    private final Rings rings = rings(true);
    private final byte[] next = new byte[LAYOUT.inlineMax()];

    /** Fills the ring. */
    public Held() {
      byte[] message = message(LAYOUT.inlineMax());
      while (rings.send(message)) {
        continue;
      }
    }

    /** Sends into the rest of the ring, and then to its beginning. */
    @Actor
    public void sender() {
      rings.send(next);
      rings.send(next);
    }

    /**
     * Holds the first message, frees the second, and reads the first.
     *
     * @param result the contents of the first
     */
    @Actor
    public void receiver(JJ_Result result) {
      rings.consumer.next();
      rings.consumer.hold();
      final MemorySegment memory = rings.consumer.messageMemory();
      final long offset = rings.consumer.messageOffset();
      rings.consumer.advance();
      rings.consumer.next();
      rings.consumer.advance();
      rings.consumer.acknowledge();
      result.r1 = memory.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
      result.r2 =
          memory.get(ValueLayout.JAVA_LONG_UNALIGNED, offset + LAYOUT.inlineMax() - Long.BYTES);
      boolean ignored = rings.consumer.endHold();
    }
  }

  /**
   * A receiver that goes to sleep sees the message, or the sender sees that it sleeps: with fences.
   */
  @JCStressTest
  @Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "the wake-up is lost")
  @Outcome(expect = Expect.ACCEPTABLE, desc = "one of them sees the other")
  @State
  public static class SleepWithFences {
    private final Rings rings = rings(true);
    private final byte[] message = message(8);

    /**
     * Sends.
     *
     * @param result whether the receiver must be woken
     */
    @Actor
    public void sender(ZZ_Result result) {
      rings.stage(message);
      result.r1 = rings.producer.publish() != 0;
    }

    /**
     * Announces the sleep and checks again.
     *
     * @param result whether there is a message
     */
    @Actor
    public void receiver(ZZ_Result result) {
      rings.sleep.arm(false);
      result.r2 = rings.consumer.next();
    }
  }

  /**
   * A program that uses readiness, and has found nothing, sees the message when it checks once
   * more, or its descriptor becomes readable.
   */
  @JCStressTest
  @Outcome(id = "true", expect = Expect.ACCEPTABLE, desc = "the descriptor is readable")
  @Outcome(expect = Expect.FORBIDDEN, desc = "the program waits in vain")
  @State
  public static class FoundNothing {
    private final Rings rings = rings(true);
    private final byte[] message = message(8);
    private final ReadinessDescriptor.Source source =
        new ReadinessDescriptor(
                URI.create("sm:///tmp/stress"),
                () -> {
                  throw new AssertionError("this test opens no descriptor");
                })
            .source(() -> rings.sleep.arm(false), () -> rings.consumer.next());

    /** Sends, and wakes the receiver if it asks for that. */
    @Actor
    public void sender() {
      rings.stage(message);
      if (rings.producer.publish() != 0) {
        source.raise();
      }
    }

    /** Finds nothing, requests a wake-up, and looks once more. */
    @Actor
    public void receiver() {
      source.foundNothing();
    }

    /**
     * Looks for the result.
     *
     * @param result whether the descriptor is readable
     */
    @Arbiter
    public void result(Z_Result result) {
      result.r1 = source.foundNothing(); // which finds the message if it was raised, and only then
    }
  }

  /**
   * As {@link SleepWithFences}, with fences that the receiver requested from the sender at its last
   * sleep.
   */
  @JCStressTest
  @Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "the wake-up is lost")
  @Outcome(expect = Expect.ACCEPTABLE, desc = "one of them sees the other")
  @State
  public static class SleepAgain {
    private final Rings rings = rings(false);
    private final MemorySegment message = MemorySegment.ofArray(message(8));

    /** Sleeps once, until the second check. */
    public SleepAgain() {
      rings.sleep.arm(false);
      rings.sleep.onDelayPassed();
      rings.sleep.disarm();
    }

    /**
     * Sends.
     *
     * @param result whether the receiver must be woken
     */
    @Actor
    public void sender(ZZ_Result result) {
      result.r1 = rings.producer.trySend(message, 0, 8) != 0;
    }

    /**
     * Announces the sleep and checks again.
     *
     * @param result whether there is a message
     */
    @Actor
    public void receiver(ZZ_Result result) {
      rings.sleep.arm(false);
      result.r2 = rings.consumer.next();
    }
  }

  /**
   * As {@link SleepWithFences}, without a fence on the sender's side, by membarrier(2), and with
   * the second check of a sleeper, because some kernels skip a processor at times.
   */
  @JCStressTest
  @Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "the wake-up is lost")
  @Outcome(expect = Expect.ACCEPTABLE, desc = "one of them sees the other")
  @State
  public static class SleepWithMembarrier {
    private final Rings rings = rings(!dev.ferrule.posix.Membarrier.REGISTERED);
    private final byte[] message = message(8);

    /**
     * Sends.
     *
     * @param result whether the receiver must be woken
     */
    @Actor
    public void sender(ZZ_Result result) {
      rings.stage(message);
      result.r1 = rings.producer.publish() != 0;
    }

    /**
     * Announces the sleep and checks again.
     *
     * @param result whether there is a message
     */
    @Actor
    public void receiver(ZZ_Result result) {
      rings.sleep.arm(false);
      boolean found = rings.consumer.next();
      if (!found) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < SECOND_CHECK_NANOS) {
          Thread.onSpinWait();
        }
        found = rings.consumer.next();
      }
      result.r2 = found;
    }
  }
}
