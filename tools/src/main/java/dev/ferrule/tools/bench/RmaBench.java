// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteMemory;
import dev.ferrule.Rma;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.HdrHistogram.Histogram;

/**
 * Measures the latency of single reads and writes of the server's memory, and their throughput with
 * many in flight. Interleaved rounds measure a bare copy, for comparison.
 */
public final class RmaBench extends Bench {

  private static final String CROSS_MEMORY_ATTACH = "cma";
  private static final String ALLOCATED = "allocated";
  private static final long OPERATIONS_WITHOUT_WARMUP = 100;
  private static final long MAX_OPERATIONS = 100_000;
  private static final double NANOS_PER_SECOND = 1e9;
  private static final long PAGE = 4096;

  /** Parts of a round: accesses one by one, as many in flight, and as many bare copies. */
  private static final int PARTS = 3;

  /**
   * The time of these three parts in a round that the clock ends. The second and third part are not
   * ended by the clock; the shorter the first one is, the less they exceed the round.
   */
  private static final long TIMED_NANOS = 30_000_000;

  /** Fewer accesses would not be many in flight; if the time of the round suffices for these. */
  private static final int MANY = 16;

  private final BenchClient client;
  private final Rma rma;
  private final boolean allocated;

  /**
   * Creates a benchmark.
   *
   * @param client the connection to measure
   * @param subject the labels of the results
   * @param plan what to measure; its number of messages is the number of operations in each round
   * @param allocated whether the provider allocates the server's memory
   */
  public RmaBench(BenchClient client, Subject subject, Plan plan, boolean allocated) {
    super(subject, plan);
    this.client = client;
    this.rma = client.rma();
    this.allocated = allocated;
  }

  @Override
  public List<Result> run(Observer observer) {
    List<Result> results = List.of();
    for (int size : plan.sizes()) {
      if (size == 0) {
        throw new ToolException(
            ExitCode.USAGE, "--size 0: an access of 0 bytes has no bandwidth; the minimum is 1");
      }
      try (Arena arena = Arena.ofShared();
          RegisteredMemory local = client.register(arena.allocate(size, PAGE))) {
        ExposureMessage exposure = client.expose(size, allocated);
        RemoteMemory remote = rma.attach(exposure.handle());
        boolean bare =
            !allocated
                && client.rmaPath().equals(CROSS_MEMORY_ATTACH)
                && isAt(exposure, local, remote, arena);
        for (boolean write : new boolean[] {true, false}) {
          BareCopy floor =
              bare
                  ? BareCopy.crossMemory(arena, local.segment(), exposure, write)
                  : BareCopy.plain(arena, size);
          results =
              run(
                  List.of(new RmaMeasurement(local, remote, size, write, floor, observer)),
                  results,
                  observer);
        }
      }
    }
    return results;
  }

  /**
   * Returns whether the exposed memory is at the address that the server sent: a pattern written
   * through the handle is completely read from that address by the bare system call. Otherwise a
   * wrong address would let the system call write to other memory of any process of this user.
   */
  private boolean isAt(
      ExposureMessage exposure, RegisteredMemory local, RemoteMemory remote, Arena arena) {
    MemorySegment memory = local.segment();
    long seed = ThreadLocalRandom.current().nextLong() | 1;
    for (long i = 0; i < memory.byteSize(); i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, (byte) (seed * (i + 1) >>> Integer.SIZE));
    }
    MemorySegment written = arena.allocate(memory.byteSize()).copyFrom(memory);
    rma.await(rma.write(local, 0, remote, 0, Math.toIntExact(memory.byteSize())));
    memory.fill((byte) 0);
    return BareCopy.crossMemory(arena, memory, exposure, false).copy().getAsLong()
            == memory.byteSize()
        && memory.mismatch(written) < 0;
  }

  /** One operation at one size. */
  private final class RmaMeasurement implements Measurement {
    private final RegisteredMemory local;
    private final RemoteMemory remote;
    private final int size;
    private final boolean write;
    private final BareCopy floor;
    private final Intervals intervals;
    private final Histogram times = LatencySummary.newHistogram();
    private final List<Double> rates = new ArrayList<>();
    private final List<Double> floors = new ArrayList<>();
    private long operations;
    private long spentNanos;
    private long floorNanos;

    private RmaMeasurement(
        RegisteredMemory local,
        RemoteMemory remote,
        int size,
        boolean write,
        BareCopy floor,
        Observer observer) {
      this.local = local;
      this.remote = remote;
      this.size = size;
      this.write = write;
      this.floor = floor;
      intervals = new Intervals(observer, size, call(), 1);
    }

    private long begin() {
      return write ? rma.write(local, 0, remote, 0, size) : rma.read(local, 0, remote, 0, size);
    }

    @Override
    public String name() {
      return call() + " of " + size + " bytes";
    }

    private String call() {
      return write ? "write" : "read";
    }

    @Override
    public void warmUp(boolean first) {
      double nanos =
          plan.warmUp(
              first,
              count -> {
                client.begin(count, size);
                floor.run(count);
                stream(count);
              });
      operations =
          plan.messages(
              nanos, plan.pace().accessNanos(), OPERATIONS_WITHOUT_WARMUP, 1, MAX_OPERATIONS);
    }

    @Override
    public void round(int index) {
      if (plan.isTimed()) {
        timedRound(index, plan.roundNanos(index, spentNanos));
        return;
      }
      rates.add(perSecond(operations, intervals.round(operations, this::measured)));
      floors.add(perSecond(operations, nanos(operations, () -> floor.run(operations))));
    }

    private void timedRound(int index, long limitNanos) {
      if (limitNanos <= 0) {
        return;
      }
      long before = floorNanos;
      Measured measured = intervals.until(limitNanos, this::measuredUntil);
      if (plan.hasRate(index, limitNanos)) {
        rates.add(measured.perSecond());
        floors.add(perSecond(measured.messages(), floorNanos - before));
      }
      spentNanos += measured.spentNanos();
    }

    private Measured measuredUntil(long limitNanos) {
      long start = System.nanoTime();
      long count = oneByOne(Math.min(limitNanos, TIMED_NANOS) / PARTS, limitNanos / PARTS);
      long nanos = nanos(count, () -> stream(count));
      floorNanos += nanos(count, () -> floor.run(count));
      return new Measured(count, nanos, System.nanoTime() - start);
    }

    /**
     * Performs accesses one by one for a given time or, until they are many, for the longer time.
     * Returns their number, at least one.
     */
    private long oneByOne(long usualNanos, long longestNanos) {
      long begin = System.nanoTime();
      long count = 0;
      long elapsed;
      do {
        if (count % MANY == 0) { // the time limit of a watchdog is for a known number
          client.begin(MANY, size);
        }
        elapsed = accessOnce() - begin;
        count++;
      } while (elapsed < (count < MANY ? longestNanos : usualNanos));
      return count;
    }

    /** Measures accesses one by one, and as many in flight. Returns the time of the latter. */
    private long measured(long count) {
      oneByOne(count);
      return nanos(count, () -> stream(count));
    }

    @Override
    public Intervals intervals() {
      return intervals;
    }

    @Override
    public List<Result> results() {
      return Medians.of(rates).stream()
          .mapToObj(rate ->
              Result.rma(
                      subject,
                      call(),
                      size,
                      times.getTotalCount(),
                      LatencySummary.of(times, 1),
                      rate,
                      new Result.RmaFigures(
                          allocated ? ALLOCATED : client.rmaPath(),
                          floor.name(),
                          Medians.of(floors).orElse(0) * size))
                  .with(intervals.ended()))
          .toList();
    }

    private void oneByOne(long count) {
      client.begin(count, size);
      for (long i = 0; i < count; i++) {
        accessOnce();
      }
    }

    /** Returns the time when the access was complete. */
    private long accessOnce() {
      long start = System.nanoTime();
      rma.await(begin());
      long end = System.nanoTime();
      times.recordValue(end - start);
      intervals.record(end - start);
      return end;
    }

    private void stream(long count) {
      long last = 0;
      for (long i = 0; i < count; i++) {
        last = begin();
      }
      rma.await(last);
    }

    private long nanos(long count, Runnable work) {
      client.begin(count, size);
      long start = System.nanoTime();
      work.run();
      return System.nanoTime() - start;
    }

    private static double perSecond(long count, long nanos) {
      return count * NANOS_PER_SECOND / Math.max(1, nanos);
    }
  }
}
