// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Message rate and bytes per second for messages of several sizes: the median of rounds. The rounds
 * of all sizes, of a plain copy in memory and of the bare cache line take turns, so that whatever
 * else the machine does hits all of them alike.
 */
public final class BandwidthBench {

  private static final double NANOS_PER_SECOND = 1e9;
  private static final long DEFAULT_NANOS_PER_ROUND = 250_000_000;
  private static final long MIN_DEFAULT_MESSAGES = 100;
  private static final long MAX_DEFAULT_MESSAGES = 50_000_000;
  private static final long MESSAGES_WITHOUT_WARMUP = 100_000;
  private static final long MEMCPY_NANOS = 50_000_000;
  private static final int COPIES_PER_LOOK = 16;
  private static final int CACHE_LINE_BYTES = 64;

  private final BenchClient client;
  private final Subject subject;
  private final Plan plan;
  private final Throughput.Flow flow;
  private final int memcpyFrom;

  /**
   * Creates a benchmark.
   *
   * @param client the connection to measure; if it has a floor, that is measured too
   * @param subject what to label the results with
   * @param plan what to measure
   * @param unacked how many messages may be incomplete at a time; 0 for as many as there is room
   *     for
   * @param batch how many messages to hand to the transport at a time
   * @param verify whether the server is to check every byte
   * @param memcpyFrom the least size for which to measure a plain copy as well
   */
  public BandwidthBench(
      BenchClient client,
      Subject subject,
      Plan plan,
      int unacked,
      int batch,
      boolean verify,
      int memcpyFrom) {
    this.client = client;
    this.subject = subject;
    this.plan = plan;
    this.flow = new Throughput.Flow(unacked, batch, verify);
    this.memcpyFrom = memcpyFrom;
  }

  /** One size's measurement, as it grows round by round. */
  private final class Series {
    private final int size;
    private final Throughput throughput;
    private final MemorySegment from;
    private final MemorySegment to;
    private final List<Double> rates = new ArrayList<>();
    private final List<Double> floors = new ArrayList<>();
    private final List<Double> copies = new ArrayList<>();
    private long messages;

    private Series(Arena arena, int size) {
      this.size = size;
      throughput = new Throughput(client, arena, size, flow);
      from = arena.allocate(size, CACHE_LINE_BYTES).fill((byte) 1);
      to = arena.allocate(size, CACHE_LINE_BYTES).fill((byte) 2);
    }

    private void warmUp(boolean first) {
      double nanos = plan.warmUp(first, throughput::round);
      long fitting =
          nanos == 0 ? MESSAGES_WITHOUT_WARMUP : (long) (DEFAULT_NANOS_PER_ROUND / nanos);
      messages =
          plan.messages().orElse(Math.clamp(fitting, MIN_DEFAULT_MESSAGES, MAX_DEFAULT_MESSAGES));
    }

    private void round() {
      client.floor().ifPresent(floor -> floors.add(floor.round()));
      if (copies()) {
        copies.add(copyBytesPerSecond());
      }
      rates.add(messages * NANOS_PER_SECOND / throughput.round(messages));
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
          messages,
          Medians.of(rates).orElse(0),
          Medians.of(floors),
          Medians.of(copies));
    }
  }

  /**
   * Measures, in the calling thread.
   *
   * @return one result per size
   */
  public List<Result> run() {
    try (Arena arena = Arena.ofConfined()) {
      List<Series> all = plan.sizes().stream().map(size -> new Series(arena, size)).toList();
      client.floor().ifPresent(Floor::warmUp);
      for (Series series : all) {
        series.warmUp(series == all.get(0));
      }
      for (int round = 0; round < plan.rounds(); round++) {
        all.forEach(Series::round);
      }
      return all.stream().map(Series::result).toList();
    }
  }
}
