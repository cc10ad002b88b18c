// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * The measurement of one message size.
 *
 * @param subject what was measured
 * @param command the command: {@code latency}, {@code latency-calls}, {@code
 *     latency-calls-one-way}, {@code bandwidth} or {@code rma}
 * @param call the call that was timed, or null if it was not a single one; {@code write} or {@code
 *     read}
 * @param sizeBytes the length of the messages
 * @param messages the number measured (for the bandwidth: in each round, on all connections
 *     together)
 * @param latency half the round trip, or the time of the call; null for the bandwidth
 * @param floor the floors measured beside it; {@link Floors#NONE} if none
 * @param messagesPerSecond the message rate of all connections together, the median of all rounds
 * @param bytesPerSecond the corresponding throughput
 * @param memcpyBytesPerSecond the rate at which one thread copies messages of that size in its own
 *     memory
 * @param rma the figures of remote memory access; null for messages
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
    OptionalDouble bytesPerSecond,
    OptionalDouble memcpyBytesPerSecond,
    @Nullable RmaFigures rma) {

  static final String ONE_WAY_CALLS = "latency-calls-one-way";

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
    public static final Floors NONE =
        new Floors(OptionalDouble.empty(), OptionalDouble.empty(), OptionalDouble.empty());
  }

  /**
   * Figures of remote memory access only.
   *
   * @param path the path taken, such as {@code cma}
   * @param floor the copy measured beside it: {@code process_vm_writev}, {@code process_vm_readv}
   *     or {@code memcpy}
   * @param floorBytesPerSecond the copy's rate, the median of all rounds
   */
  public record RmaFigures(String path, String floor, double floorBytesPerSecond) {}

  /**
   * Returns the ratio to the floor: the quotient of the two medians that are shown.
   *
   * @return the latency over the bare line's, or for remote memory access the rate over the
   *     floor's; empty without a floor
   */
  public OptionalDouble floorRatio() {
    if (rma != null) {
      return Medians.ratio(bytesPerSecond, OptionalDouble.of(rma.floorBytesPerSecond()));
    }
    return latency == null
        ? OptionalDouble.empty()
        : Medians.ratio(OptionalDouble.of(latency.p50()), floor.lineNanos());
  }

  /**
   * Returns the ratio to the bare ring: the quotient of the two medians that are shown.
   *
   * @return the latency over the ring's, or the message rate over the ring's; empty without one
   */
  public OptionalDouble ringRatio() {
    return latency == null
        ? Medians.ratio(messagesPerSecond, floor.ringMessagesPerSecond())
        : Medians.ratio(OptionalDouble.of(latency.p50()), floor.ringNanos());
  }

  /**
   * Returns the ratio to a plain copy: the quotient of the two medians that are shown.
   *
   * @return the bytes per second over the copy's; empty without one
   */
  public OptionalDouble memcpyRatio() {
    return Medians.ratio(bytesPerSecond, memcpyBytesPerSecond);
  }

  static Result latency(
      Subject subject,
      int size,
      long messages,
      LatencySummary latency,
      OptionalDouble lineNanos,
      OptionalDouble ringNanos) {
    return new Result(
        subject,
        "latency",
        null,
        size,
        messages,
        latency,
        new Floors(lineNanos, ringNanos, OptionalDouble.empty()),
        OptionalDouble.empty(),
        OptionalDouble.empty(),
        OptionalDouble.empty(),
        null);
  }

  static Result call(
      Subject subject, String call, int size, long messages, LatencySummary latency) {
    return call(subject, "latency-calls", call, size, messages, latency);
  }

  /** Returns the result of a call in one direction, in which each side times its own calls. */
  static Result oneWayCall(
      Subject subject, String call, int size, long messages, LatencySummary latency) {
    return call(subject, ONE_WAY_CALLS, call, size, messages, latency);
  }

  private static Result call(
      Subject subject,
      String command,
      String call,
      int size,
      long messages,
      LatencySummary latency) {
    return new Result(
        subject,
        command,
        call,
        size,
        messages,
        latency,
        Floors.NONE,
        OptionalDouble.empty(),
        OptionalDouble.empty(),
        OptionalDouble.empty(),
        null);
  }

  static Result rma(
      Subject subject,
      String operation,
      int size,
      long operations,
      LatencySummary latency,
      double operationsPerSecond,
      RmaFigures figures) {
    return new Result(
        subject,
        "rma",
        operation,
        size,
        operations,
        latency,
        Floors.NONE,
        OptionalDouble.of(operationsPerSecond),
        OptionalDouble.of(operationsPerSecond * size),
        OptionalDouble.empty(),
        figures);
  }

  static Result bandwidth(
      Subject subject,
      int size,
      long messages,
      double messagesPerSecond,
      OptionalDouble lineNanos,
      OptionalDouble ringMessagesPerSecond,
      OptionalDouble memcpy) {
    return new Result(
        subject,
        "bandwidth",
        null,
        size,
        messages,
        null,
        new Floors(lineNanos, OptionalDouble.empty(), ringMessagesPerSecond),
        OptionalDouble.of(messagesPerSecond),
        OptionalDouble.of(messagesPerSecond * size),
        memcpy,
        null);
  }
}
