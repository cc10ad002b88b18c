// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The measurement of one message size.
 *
 * @param subject what was measured
 * @param command the command: {@code latency}, {@code latency-calls}, {@code
 *     latency-calls-one-way}, {@code bandwidth} or {@code rma}
 * @param call the call that was timed, null if none was timed separately; for {@code rma}, {@code
 *     write} or {@code read}
 * @param sizeBytes the length of the messages
 * @param messages the number of messages measured (of a bandwidth: on all connections together, in
 *     each round or, if the clock ends the rounds, in all rounds)
 * @param latency half the round trip, or the time of the call; null for the bandwidth
 * @param floor the floors measured in the same run; {@link Floors#NONE} if none
 * @param messagesPerSecond the message rate of all connections together, the median of all rounds
 * @param memcpyBytesPerSecond the rate at which one thread copies messages of that size in its own
 *     memory
 * @param rma the figures of remote memory access; null for messages
 * @param intervals the figures over time; empty if they were not measured
 */
public record Result(
    Subject subject,
    String command,
    @Nullable String call,
    int sizeBytes,
    long messages,
    @Nullable LatencySummary latency,
    Floors floor,
    OptionalDouble messagesPerSecond,
    OptionalDouble memcpyBytesPerSecond,
    @Nullable RmaFigures rma,
    List<Interval> intervals) {

  /** The command's name if one side times all calls. */
  static final String LATENCY_CALLS = "latency-calls";

  /** The command's name if messages go in one direction, and each side times its own calls. */
  static final String ONE_WAY_CALLS = "latency-calls-one-way";

  /** The calls that are timed, in the order of the results. */
  static final List<String> CALLS = List.of("send", "receive", "free", "clock");

  private static final OptionalDouble NONE = OptionalDouble.empty();

  /**
   * The floors: what the machine can do at best.
   *
   * @param lineNanos half the round trip of a bare cache line
   * @param ringNanos half the round trip of a message of that size through bare rings
   * @param ringMessagesPerSecond the message rate of a bare ring at that size
   */
  public record Floors(
      OptionalDouble lineNanos, OptionalDouble ringNanos, OptionalDouble ringMessagesPerSecond) {

    /** Nothing was measured. */
    public static final Floors NONE = new Floors(Result.NONE, Result.NONE, Result.NONE);
  }

  /**
   * Figures of remote memory access only.
   *
   * @param path the mechanism that copies, such as {@code cma}
   * @param floor the bare copy measured for comparison: {@code process_vm_writev}, {@code
   *     process_vm_readv} or {@code memcpy}
   * @param floorBytesPerSecond the copy's rate, the median of all rounds
   */
  public record RmaFigures(String path, String floor, double floorBytesPerSecond) {}

  /** {@return the throughput that corresponds to the message rate} */
  public OptionalDouble bytesPerSecond() {
    return bytesPerSecond(messagesPerSecond);
  }

  OptionalDouble bytesPerSecond(OptionalDouble rate) {
    return rate.isPresent() ? OptionalDouble.of(rate.getAsDouble() * sizeBytes) : NONE;
  }

  /**
   * Returns the ratio of the latency to that of the bare line or, for remote memory access, of the
   * rate to that of the floor; empty without a floor. Each ratio is the quotient of the two medians
   * that are shown.
   */
  OptionalDouble floorRatio() {
    if (rma != null) {
      return Medians.ratio(bytesPerSecond(), OptionalDouble.of(rma.floorBytesPerSecond()));
    }
    return latency == null
        ? OptionalDouble.empty()
        : Medians.ratio(OptionalDouble.of(latency.p50()), floor.lineNanos());
  }

  /** Returns the ratio of the latency or rate to that of the bare ring; empty without a ring. */
  OptionalDouble ringRatio() {
    return latency == null
        ? Medians.ratio(messagesPerSecond, floor.ringMessagesPerSecond())
        : Medians.ratio(OptionalDouble.of(latency.p50()), floor.ringNanos());
  }

  /** Returns the ratio of the throughput to that of a plain copy; empty without a copy. */
  OptionalDouble memcpyRatio() {
    return Medians.ratio(bytesPerSecond(), memcpyBytesPerSecond);
  }

  static Result latency(
      Subject subject,
      int size,
      long messages,
      LatencySummary latency,
      OptionalDouble lineNanos,
      OptionalDouble ringNanos) {
    Floors floor = new Floors(lineNanos, ringNanos, NONE);
    return new Result(
        subject, "latency", null, size, messages, latency, floor, NONE, NONE, null, List.of());
  }

  /** Returns a result for each of the {@link #CALLS}; the times are in the same order. */
  static List<Result> calls(
      Subject subject, String command, int size, long messages, List<LatencySummary> times) {
    return IntStream.range(0, CALLS.size())
        .mapToObj(i ->
            new Result(
                subject,
                command,
                CALLS.get(i),
                size,
                messages,
                times.get(i),
                Floors.NONE,
                NONE,
                NONE,
                null,
                List.of()))
        .toList();
  }

  static Result rma(
      Subject subject,
      String operation,
      int size,
      long operations,
      LatencySummary latency,
      double operationsPerSecond,
      RmaFigures figures) {
    OptionalDouble rate = OptionalDouble.of(operationsPerSecond);
    return new Result(
        subject,
        "rma",
        operation,
        size,
        operations,
        latency,
        Floors.NONE,
        rate,
        NONE,
        figures,
        List.of());
  }

  static Result bandwidth(
      Subject subject,
      int size,
      long messages,
      double messagesPerSecond,
      OptionalDouble lineNanos,
      OptionalDouble ringMessagesPerSecond,
      OptionalDouble memcpy) {
    Floors floor = new Floors(lineNanos, NONE, ringMessagesPerSecond);
    OptionalDouble rate = OptionalDouble.of(messagesPerSecond);
    return new Result(
        subject, "bandwidth", null, size, messages, null, floor, rate, memcpy, null, List.of());
  }

  /** Returns this result with the figures over time. */
  Result with(List<Interval> measured) {
    return new Result(
        subject,
        command,
        call,
        sizeBytes,
        messages,
        latency,
        floor,
        messagesPerSecond,
        memcpyBytesPerSecond,
        rma,
        measured);
  }
}
