// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Measures message rate and throughput for several message sizes: the median of rounds. The rounds
 * of all sizes, of a plain memory copy, of the bare cache line and of the bare ring are
 * interleaved, so that disturbances affect all of them alike.
 */
public final class BandwidthBench {

  private static final double NANOS_PER_SECOND = 1e9;
  private static final long MIN_DEFAULT_MESSAGES = 100;
  private static final long MAX_DEFAULT_MESSAGES = 50_000_000;
  private static final long MESSAGES_WITHOUT_WARMUP = 100_000;
  private static final long MEMCPY_NANOS = 50_000_000;
  private static final int COPIES_PER_LOOK = 16;
  private static final int CACHE_LINE_BYTES = 64;

  private final SenderThreads senderThreads;
  private final Subject subject;
  private final Plan plan;
  private final Throughput.Flow flow;
  private final int memcpyFrom;

  /**
   * Creates a benchmark.
   *
   * @param senderThreads the connections, all measured at once, and the sender threads; if the
   *     first connection has a floor, that is measured too
   * @param subject the labels of the results
   * @param plan what to measure, on each connection
   * @param unacked the maximum number of incomplete messages on each connection; 0 for no limit but
   *     the available buffers
   * @param batch the number of messages per batch
   * @param verify whether the server checks every byte
   * @param memcpyFrom the least size for which a plain copy is measured as well
   */
  public BandwidthBench(
      SenderThreads senderThreads,
      Subject subject,
      Plan plan,
      int unacked,
      int batch,
      boolean verify,
      int memcpyFrom) {
    this.senderThreads = senderThreads;
    this.subject = subject;
    this.plan = plan;
    this.flow = new Throughput.Flow(unacked, batch, verify);
    this.memcpyFrom = memcpyFrom;
  }

  /** The measurement of one size, extended by each round. */
  private final class BandwidthMeasurement {
    private final int size;
    private final List<Throughput> throughputs;
    private final MemorySegment from;
    private final MemorySegment to;
    private final List<Double> rates = new ArrayList<>();
    private final List<Double> lines = new ArrayList<>();
    private final List<Double> rings = new ArrayList<>();
    private final List<Double> copies = new ArrayList<>();
    private long messages;
    private long ringMessages;

    private BandwidthMeasurement(Arena arena, int size) {
      this.size = size;
      throughputs =
          senderThreads.clients().stream()
              .map(client -> new Throughput(client, arena, size, flow))
              .toList();
      from = arena.allocate(size, CACHE_LINE_BYTES).fill((byte) 1);
      to = arena.allocate(size, CACHE_LINE_BYTES).fill((byte) 2);
    }

    private void warmUp(boolean first) {
      messages = messages(plan.warmUp(first, count -> senderThreads.round(throughputs, count)));
      ring()
          .ifPresent(floor ->
              ringMessages =
                  Math.min(messages(floor.warmUpStream(size)), ServerLimits.MAX_STREAMED));
    }

    /** Returns how many messages, of so many nanoseconds each, make up a round. */
    private long messages(double nanos) {
      long fitting =
          nanos == 0 ? MESSAGES_WITHOUT_WARMUP : (long) (plan.pace().bandwidthNanos() / nanos);
      return plan.messages()
          .orElse(Math.clamp(fitting, MIN_DEFAULT_MESSAGES, MAX_DEFAULT_MESSAGES));
    }

    private Optional<Floor> ring() {
      return floor().filter(floor -> Floor.ringTakes(size));
    }

    private void round() {
      floor().ifPresent(floor -> lines.add(floor.round()));
      ring()
          .ifPresent(floor ->
              rings.add(ringMessages * NANOS_PER_SECOND / floor.stream(size, ringMessages)));
      if (copies()) {
        copies.add(copyBytesPerSecond());
      }
      rates.add(total() * NANOS_PER_SECOND / senderThreads.round(throughputs, messages));
    }

    private long total() {
      return messages * throughputs.size();
    }

    private boolean copies() {
      return size > 0 && size >= memcpyFrom;
    }

    private double copyBytesPerSecond() {
      long start = System.nanoTime();
      long copied = 0;
      long nanos;
      do {
        for (int i = 0; i < COPIES_PER_LOOK; i++) {
          MemorySegment.copy(from, 0, to, 0, size);
        }
        copied += (long) COPIES_PER_LOOK * size;
        nanos = System.nanoTime() - start;
      } while (nanos < MEMCPY_NANOS);
      return copied * NANOS_PER_SECOND / nanos;
    }

    private Result result() {
      return Result.bandwidth(
          subject,
          size,
          total(),
          Medians.of(rates).orElse(0),
          Medians.of(lines),
          Medians.of(rings),
          Medians.of(copies));
    }
  }

  private Optional<Floor> floor() {
    return senderThreads.first().floor();
  }

  /**
   * Measures, in the calling thread and the other sender threads.
   *
   * @return one result per size
   */
  public List<Result> run() {
    return run(Observer.NONE);
  }

  /**
   * Measures, in the calling thread and the other sender threads.
   *
   * @param observer receives the progress
   * @return one result per size
   */
  public List<Result> run(Observer observer) {
    // Confined memory is a little cheaper to access.
    try (Arena arena = senderThreads.threads() == 1 ? Arena.ofConfined() : Arena.ofShared()) {
      List<BandwidthMeasurement> all =
          plan.sizes().stream().map(size -> new BandwidthMeasurement(arena, size)).toList();
      floor().ifPresent(Floor::warmUp);
      for (BandwidthMeasurement measurement : all) {
        observer.progress("warming up, " + measurement.size + " bytes", List::of);
        measurement.warmUp(measurement == all.get(0));
      }
      for (int round = 0; round < plan.rounds(); round++) {
        for (BandwidthMeasurement measurement : all) {
          measurement.round();
          observer.progress(
              "round " + (round + 1) + " of " + plan.rounds() + ", " + measurement.size + " bytes",
              () -> results(all));
        }
      }
      return results(all);
    }
  }

  private static List<Result> results(List<BandwidthMeasurement> all) {
    return all.stream()
        .filter(measurement -> !measurement.rates.isEmpty())
        .map(BandwidthMeasurement::result)
        .toList();
  }
}
