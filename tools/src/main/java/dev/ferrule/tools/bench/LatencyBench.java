// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * Measures half the round trip of messages of several sizes. The rounds of all sizes, and those of
 * the bare cache line and the bare ring, are interleaved, so that disturbances affect all of them
 * alike.
 */
public final class LatencyBench {

  private static final long MIN_DEFAULT_MESSAGES = 1_000;
  private static final long MAX_DEFAULT_MESSAGES = 1_000_000;
  private static final long MESSAGES_WITHOUT_WARMUP = 10_000;
  private static final double WAYS = 2;

  private final BenchClient client;
  private final Subject subject;
  private final Plan plan;

  /**
   * Creates a benchmark.
   *
   * @param client the connection to measure; if it has a floor, that is measured too
   * @param subject the labels of the results
   * @param plan what to measure
   */
  public LatencyBench(BenchClient client, Subject subject, Plan plan) {
    this.client = client;
    this.subject = subject;
    this.plan = plan;
  }

  /** The measurement of one size, extended by each round. */
  private final class LatencyMeasurement {
    private final PingPong pingPong;
    private final int size;
    private final Histogram roundTrips = LatencySummary.newHistogram();
    private final List<Double> lines = new ArrayList<>();
    private final List<Double> rings = new ArrayList<>();
    private long[] periods = {};
    private long messages;

    private LatencyMeasurement(Arena arena, int size) {
      this.size = size;
      pingPong = new PingPong(client, arena, size);
    }

    private Optional<Floor> ring() {
      return client.floor().filter(floor -> Floor.ringTakes(size));
    }

    private void warmUp(boolean first) {
      ring().ifPresent(floor -> floor.warmUpRing(size));
      double nanos =
          plan.warmUp(
              first,
              count -> {
                reserve(count);
                pingPong.round(periods, count);
              });
      long fitting =
          nanos == 0 ? MESSAGES_WITHOUT_WARMUP : (long) (plan.pace().latencyNanos() / nanos);
      messages =
          plan.messages().orElse(Math.clamp(fitting, MIN_DEFAULT_MESSAGES, MAX_DEFAULT_MESSAGES));
    }

    private void reserve(int count) {
      if (periods.length < count) {
        periods = new long[count];
      }
    }

    private void round(int index) {
      int count =
          Math.toIntExact(
              messages * (index + 1) / plan.rounds() - messages * index / plan.rounds());
      if (count == 0) {
        return;
      }
      reserve(count);
      OptionalDouble line = measured(client.floor(), Floor::round);
      OptionalDouble ring = measured(ring(), floor -> floor.ringRound(size));
      pingPong.round(periods, count);
      for (int i = 0; i < count; i++) {
        roundTrips.recordValue(periods[i]);
      }
      line.ifPresent(lines::add);
      ring.ifPresent(rings::add);
    }

    private Result result() {
      return Result.latency(
          subject,
          size,
          roundTrips.getTotalCount(),
          LatencySummary.of(roundTrips, WAYS),
          Medians.of(lines),
          Medians.of(rings));
    }
  }

  private static OptionalDouble measured(Optional<Floor> floor, ToDoubleFunction<Floor> round) {
    return floor
        .map(opened -> OptionalDouble.of(round.applyAsDouble(opened)))
        .orElse(OptionalDouble.empty());
  }

  /**
   * Measures, in the calling thread.
   *
   * @return one result per size
   */
  public List<Result> run() {
    return run(Observer.NONE);
  }

  /**
   * Measures, in the calling thread.
   *
   * @param observer receives the progress
   * @return one result per size
   */
  public List<Result> run(Observer observer) {
    try (Arena arena = Arena.ofConfined()) {
      List<LatencyMeasurement> all =
          plan.sizes().stream().map(size -> new LatencyMeasurement(arena, size)).toList();
      client.floor().ifPresent(Floor::warmUp);
      for (LatencyMeasurement measurement : all) {
        observer.progress("warming up, " + measurement.size + " bytes", List::of);
        measurement.warmUp(measurement == all.get(0));
      }
      for (int round = 0; round < plan.rounds(); round++) {
        for (LatencyMeasurement measurement : all) {
          measurement.round(round);
          observer.progress(
              "round " + (round + 1) + " of " + plan.rounds() + ", " + measurement.size + " bytes",
              () -> results(all));
        }
      }
      return results(all);
    }
  }

  private static List<Result> results(List<LatencyMeasurement> all) {
    return all.stream()
        .filter(measurement -> measurement.roundTrips.getTotalCount() > 0)
        .map(LatencyMeasurement::result)
        .toList();
  }
}
