// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.HdrHistogram.Histogram;

/**
 * Measures half the round-trip time of messages of several sizes. Also measures the bare cache line
 * and the bare ring, for comparison.
 */
public final class LatencyBench extends Bench {

  private static final long MIN_DEFAULT_MESSAGES = 1_000;
  private static final long MAX_DEFAULT_MESSAGES = 1_000_000;
  private static final long MESSAGES_WITHOUT_WARMUP = 10_000;
  private static final double WAYS = 2;

  /** The number of times that are kept at once if the clock ends a round. */
  private static final int TIMES_AT_ONCE = 1 << 17;

  /** Warm-up rounds also end by the clock then, so that this is compiled, too. */
  private static final long WARM_UP_NANOS = 500_000;

  private final BenchClient client;

  /**
   * Creates a benchmark.
   *
   * @param client the connection to measure; if it has a floor, the floor is measured too
   * @param subject the labels of the results
   * @param plan what to measure
   */
  public LatencyBench(BenchClient client, Subject subject, Plan plan) {
    super(subject, plan);
    this.client = client;
  }

  @Override
  public List<Result> run(Observer observer) {
    try (Arena arena = Arena.ofConfined()) {
      client.floor().ifPresent(Floor::warmUp);
      return run(
          plan.sizes().stream().map(size -> new LatencyMeasurement(arena, size, observer)).toList(),
          List.of(),
          observer);
    }
  }

  private final class LatencyMeasurement implements Measurement {
    private final PingPong pingPong;
    private final int size;
    private final Intervals intervals;
    private final Histogram roundTrips = LatencySummary.newHistogram();
    private final List<Double> lines = new ArrayList<>();
    private final List<Double> rings = new ArrayList<>();
    private long[] periods = {};
    private long messages;
    private long spentNanos;

    private LatencyMeasurement(Arena arena, int size, Observer observer) {
      this.size = size;
      intervals = new Intervals(observer, size, null, WAYS);
      pingPong = new PingPong(client, arena, size);
    }

    @Override
    public String name() {
      return size + " bytes";
    }

    private Optional<Floor> ring() {
      return client.floor().filter(floor -> Floor.ringTakes(size));
    }

    @Override
    public void warmUp(boolean first) {
      ring().ifPresent(floor -> floor.warmUpRing(size));
      if (plan.isTimed()) {
        periods = new long[TIMES_AT_ONCE];
        plan.warmUp(first, this::pingPongUntilEnds);
        return;
      }
      double nanos = plan.warmUp(first, this::pingPong);
      messages =
          plan.messages(
              nanos,
              plan.pace().latencyNanos(),
              MESSAGES_WITHOUT_WARMUP,
              MIN_DEFAULT_MESSAGES,
              MAX_DEFAULT_MESSAGES);
    }

    private void pingPongUntilEnds(int count) {
      for (int left = count; left > 0; ) {
        left -= pingPong.roundUntil(WARM_UP_NANOS, periods, Math.min(left, periods.length));
      }
    }

    private void pingPong(int count) {
      if (periods.length < count) {
        periods = new long[count];
      }
      pingPong.round(periods, count);
    }

    @Override
    public void round(int index) {
      int count = plan.isTimed() ? 0 : plan.share(messages, index);
      long limitNanos = plan.isTimed() ? plan.roundNanos(index, spentNanos) : 0;
      if (count == 0 && limitNanos <= 0) {
        return;
      }
      client.floor().ifPresent(floor -> lines.add(floor.round()));
      ring().ifPresent(floor -> rings.add(floor.ringRound(size)));
      if (plan.isTimed()) {
        spentNanos += intervals.until(limitNanos, this::measuredUntil).spentNanos();
      } else {
        intervals.round(count, part -> measured((int) part));
      }
    }

    private Measured measuredUntil(long limitNanos) {
      long start = System.nanoTime();
      int count = pingPong.roundUntil(limitNanos, periods, periods.length);
      long spentNanos = System.nanoTime() - start; // includes the messages that begin and end it
      return new Measured(count, record(count), spentNanos);
    }

    private long measured(int count) {
      pingPong(count);
      return record(count);
    }

    private long record(int count) {
      long nanos = 0;
      for (int i = 0; i < count; i++) {
        nanos += periods[i];
        roundTrips.recordValue(periods[i]);
        intervals.record(periods[i]);
      }
      return nanos;
    }

    @Override
    public Intervals intervals() {
      return intervals;
    }

    @Override
    public List<Result> results() {
      long count = roundTrips.getTotalCount();
      LatencySummary latency = LatencySummary.of(roundTrips, WAYS);
      return count == 0
          ? List.of()
          : List.of(
              Result.latency(subject, size, count, latency, Medians.of(lines), Medians.of(rings))
                  .with(intervals.ended()));
    }
  }
}
