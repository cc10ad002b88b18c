// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Measures message rate and throughput for several message sizes, each as the median of several
 * rounds. Also measures a plain memory copy, the bare cache line and the bare ring, for comparison.
 */
public final class BandwidthBench extends Bench {

  private static final double NANOS_PER_SECOND = 1e9;
  private static final long MIN_DEFAULT_MESSAGES = 100;
  private static final long MAX_DEFAULT_MESSAGES = 50_000_000;
  private static final long MESSAGES_WITHOUT_WARMUP = 100_000;
  private static final long MEMCPY_NANOS = 50_000_000;
  private static final int COPIES_PER_CLOCK_READING = 16;
  private static final int CACHE_LINE_BYTES = 64;

  private final SenderThreads senderThreads;
  private final Throughput.Flow flow;
  private final int memcpyFrom;

  /**
   * Creates a benchmark.
   *
   * @param senderThreads the connections, all measured at once, and the sender threads; if the
   *     first connection has a floor, the floor is measured too
   * @param subject the labels of the results
   * @param plan what to measure, on each connection
   * @param unacked the maximum number of incomplete messages on each connection; 0 if only the
   *     available buffers limit it
   * @param batch the number of messages per batch
   * @param verify whether the server checks every byte
   * @param memcpyFrom the minimum size for which a plain copy is measured as well
   */
  public BandwidthBench(
      SenderThreads senderThreads,
      Subject subject,
      Plan plan,
      int unacked,
      int batch,
      boolean verify,
      int memcpyFrom) {
    super(subject, plan);
    this.senderThreads = senderThreads;
    this.flow = new Throughput.Flow(unacked, batch, verify);
    this.memcpyFrom = memcpyFrom;
  }

  @Override
  public List<Result> run(Observer observer) {
    // Access to confined memory is slightly cheaper.
    try (Arena arena = senderThreads.threads() == 1 ? Arena.ofConfined() : Arena.ofShared()) {
      floor().ifPresent(Floor::warmUp);
      return run(
          plan.sizes().stream()
              .map(size -> new BandwidthMeasurement(arena, size, observer))
              .toList(),
          List.of(),
          observer);
    }
  }

  private Optional<Floor> floor() {
    return senderThreads.first().floor();
  }

  private final class BandwidthMeasurement implements Measurement {
    private final int size;
    private final List<Throughput> throughputs;
    private final Intervals intervals;
    private final MemorySegment from;
    private final MemorySegment to;
    private final List<Double> rates = new ArrayList<>();
    private final List<Double> lines = new ArrayList<>();
    private final List<Double> rings = new ArrayList<>();
    private final List<Double> copies = new ArrayList<>();
    private long messages; // in each round, on each connection
    private long allMessages; // if the clock ends the rounds
    private long spentNanos;
    private long ringMessages;

    private BandwidthMeasurement(Arena arena, int size, Observer observer) {
      this.size = size;
      intervals = new Intervals(observer, size, null, 1);
      throughputs = senderThreads.throughputs(arena, size, flow);
      from = arena.allocate(size, CACHE_LINE_BYTES).fill((byte) 1);
      to = arena.allocate(size, CACHE_LINE_BYTES).fill((byte) 2);
    }

    @Override
    public String name() {
      return size + " bytes";
    }

    @Override
    public void warmUp(boolean first) {
      messages = messages(plan.warmUp(first, this::warmUpRound));
      ring()
          .ifPresent(floor ->
              ringMessages =
                  Math.min(messages(floor.warmUpStream(size)), ServerLimits.MAX_STREAMED));
    }

    private void warmUpRound(int count) {
      if (plan.isTimed()) { // also warms up the end of such a round
        senderThreads.roundUntil(Long.MAX_VALUE, throughputs, count);
      } else {
        senderThreads.round(throughputs, count);
      }
    }

    private long messages(double nanos) {
      return plan.messages(
          nanos,
          plan.pace().bandwidthNanos(),
          MESSAGES_WITHOUT_WARMUP,
          MIN_DEFAULT_MESSAGES,
          MAX_DEFAULT_MESSAGES);
    }

    private Optional<Floor> ring() {
      return floor().filter(floor -> Floor.ringTakes(size));
    }

    @Override
    public void round(int index) {
      long limitNanos = plan.isTimed() ? plan.roundNanos(index, spentNanos) : 0;
      if (plan.isTimed() && limitNanos <= 0) {
        return;
      }
      floor().ifPresent(floor -> lines.add(floor.round()));
      ring()
          .ifPresent(floor ->
              rings.add(ringMessages * NANOS_PER_SECOND / floor.stream(size, ringMessages)));
      if (size > 0 && size >= memcpyFrom) {
        copies.add(copyBytesPerSecond());
      }
      if (plan.isTimed()) {
        Measured measured = intervals.until(limitNanos, this::measuredUntil);
        if (plan.hasRate(index, limitNanos)) {
          rates.add(measured.perSecond());
        }
        allMessages += measured.messages();
        spentNanos += measured.spentNanos();
      } else {
        long nanos = intervals.round(messages, this::measured, throughputs.size());
        rates.add(total() * NANOS_PER_SECOND / nanos);
      }
    }

    private Measured measuredUntil(long limitNanos) {
      return senderThreads.roundUntil(limitNanos, throughputs, Long.MAX_VALUE);
    }

    private long measured(long count) {
      return senderThreads.round(throughputs, count);
    }

    @Override
    public Intervals intervals() {
      return intervals;
    }

    private long total() {
      return plan.isTimed() ? allMessages : messages * throughputs.size();
    }

    private double copyBytesPerSecond() {
      long start = System.nanoTime();
      long copied = 0;
      long nanos;
      do {
        for (int i = 0; i < COPIES_PER_CLOCK_READING; i++) {
          MemorySegment.copy(from, 0, to, 0, size);
        }
        copied += (long) COPIES_PER_CLOCK_READING * size;
        nanos = System.nanoTime() - start;
      } while (nanos < MEMCPY_NANOS);
      return copied * NANOS_PER_SECOND / nanos;
    }

    @Override
    public List<Result> results() {
      return Medians.of(rates).stream()
          .mapToObj(rate ->
              Result.bandwidth(
                      subject,
                      size,
                      total(),
                      rate,
                      Medians.of(lines),
                      Medians.of(rings),
                      Medians.of(copies))
                  .with(intervals.ended()))
          .toList();
    }
  }
}
