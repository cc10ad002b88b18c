// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import dev.ferrule.rdma.queue.MessageQueue;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * Measures the effect of mapping a ring twice ("magic"): the ring space that messages of mixed
 * lengths occupy per byte, and how often a sender stalls although the receiver frees as much as a
 * magic ring needs. Both ends use the real bookkeeping, without a device; the time is the cost of
 * the bookkeeping of a message, on both sides together.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class RingBenchmark {

  private static final long RING = 64 << 10;
  private static final int WINDOW = 4096;
  private static final int LENGTHS = 1 << 12;

  /** The mapping of the ring. */
  @Param({"MAGIC", "PLAIN"})
  public Mapping mapping;

  /** The mean length of a message; lengths are random, from 1 byte to twice the mean. */
  @Param({"64", "1000", "3000", "5000", "9000", "12000", "16000"})
  public int length;

  private final int[] lengths = new int[LENGTHS];
  private int next;

  private RingSpace sender;
  private RingMessages receiver;
  private long heldBytes;

  /** Called by JMH. */
  public RingBenchmark() {}

  /** The figures reported in addition to the time. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class Usage {

    private RingSpace ring;
    private long messages;
    private long stalls;
    private int iterations; // over which JMH sums up the figures

    /** Called by JMH. */
    public Usage() {}

    /** Resets the figures. */
    @Setup(Level.Iteration)
    public void reset(BenchmarkParams parameters) {
      iterations = parameters.getMeasurement().getCount();
      messages = 0;
      stalls = 0;
    }

    /** Returns the bytes of the ring occupied per byte of a message. */
    public double ringBytesPerByte() {
      return ring == null ? 0 : (double) ring.ringBytes() / ring.payloadBytes() / iterations;
    }

    /** Returns how often the sender stalled, per thousand messages. */
    public double stallsPerThousand() {
      return messages == 0 ? 0 : 1000.0 * stalls / messages / iterations;
    }
  }

  /** Creates an empty ring. */
  @Setup(Level.Iteration)
  public void makeRing() {
    sender = new RingSpace(RING, mapping, WINDOW);
    receiver =
        new RingMessages(
            RING,
            mapping,
            WINDOW,
            Math.min(2 * length, mapping.longest(RING)),
            Acknowledge.BATCHED);
    heldBytes = 0;
    SplittableRandom random = new SplittableRandom(7);
    Arrays.setAll(lengths, i -> random.nextInt(1, 2 * length));
  }

  /**
   * Frees as much as a magic ring needs for a message, then what is still missing, and sends it.
   */
  @Benchmark
  public long message(Usage usage) {
    usage.ring = sender;
    usage.messages++;
    int now = lengths[next];
    next = next + 1 & LENGTHS - 1;
    while (heldBytes + RingCursor.rounded(now) > RING) {
      free();
    }
    if (!sender.tryReserve(now)) {
      usage.stalls++;
      do {
        free();
      } while (!sender.tryReserve(now));
    }
    long offset = sender.place(now, now);
    int slot = receiver.arrived(now);
    if (receiver.offset(slot) != offset) {
      throw new IllegalStateException("the two sides disagree");
    }
    heldBytes += RingCursor.rounded(now);
    return offset;
  }

  private void free() {
    long message = receiver.take();
    heldBytes -= RingCursor.rounded(MessageQueue.length(message));
    receiver.free(MessageQueue.number(message));
    if (receiver.acknowledge()) {
      String objection =
          sender.takeAck(receiver.acknowledgedMessages(), receiver.acknowledgedBytes());
      if (objection != null) {
        throw new IllegalStateException(objection);
      }
    }
  }
}
