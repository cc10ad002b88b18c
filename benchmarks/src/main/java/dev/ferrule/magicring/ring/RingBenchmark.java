// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

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

/**
 * What the magic saves: how much of a ring messages take, beside how long they are, and how often a
 * sender finds no room, where the sender is faster than the receiver. Both ends' bookkeeping is the
 * real one, without a device between them; so the time is what a message costs in bookkeeping, on
 * both sides together.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class RingBenchmark {

  private static final long RING = 64 << 10;
  private static final int WINDOW = 1024;

  /** How the ring is mapped. */
  @Param({"MAGIC", "PLAIN"})
  public Mapping mapping;

  /** The length of a message; most of them do not divide the ring. */
  @Param({"64", "1000", "3000", "5000", "9000", "12000", "17000", "24000", "32768"})
  public int length;

  private RingSpace sender;
  private RingMessages receiver;
  private int oldest; // slot of the oldest message that is held
  private int held;

  /** Made by JMH. */
  public RingBenchmark() {}

  /** What is told beside the time. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class Usage {

    private RingSpace ring;
    private long messages;
    private long stalls;

    /** Made by JMH. */
    public Usage() {}

    /** Forgets what was before. */
    @Setup(Level.Iteration)
    public void reset() {
      messages = 0;
      stalls = 0;
    }

    /** How many bytes of the ring a byte of a message takes. */
    public double ringBytesPerByte() {
      return ring == null ? 0 : (double) ring.ringBytes() / ring.payloadBytes();
    }

    /** How often the sender found no room, in a thousand messages. */
    public double stallsPerThousand() {
      return messages == 0 ? 0 : 1000.0 * stalls / messages;
    }
  }

  /** Makes an empty ring. */
  @Setup(Level.Iteration)
  public void makeRing() {
    sender = new RingSpace(RING, mapping, WINDOW);
    receiver = new RingMessages(RING, mapping, WINDOW, Math.min(length, mapping.longest(RING)));
    oldest = 0;
    held = 0;
  }

  /**
   * One message; the receiver holds all it has got until the sender finds no room, then frees half.
   */
  @Benchmark
  public long message(Usage usage) {
    usage.ring = sender;
    usage.messages++;
    if (!sender.tryReserve(length)) {
      usage.stalls++;
      do {
        free((held + 1) / 2);
      } while (!sender.tryReserve(length));
    }
    long offset = sender.place(length, length);
    int slot = receiver.arrived(length);
    if (receiver.offset(slot) != offset) {
      throw new IllegalStateException("the two sides do not agree");
    }
    held++;
    return offset;
  }

  private void free(int count) {
    for (int i = 0; i < count; i++) {
      receiver.free(oldest);
      oldest = oldest + 1 & receiver.slots() - 1;
      held--;
    }
    if (receiver.tell()) {
      String objection = sender.takeAck(receiver.toldMessages(), receiver.toldBytes());
      if (objection != null) {
        throw new IllegalStateException(objection);
      }
    }
  }
}
