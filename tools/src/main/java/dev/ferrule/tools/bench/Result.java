// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * What was measured for one size of message.
 *
 * @param subject whose numbers these are
 * @param command what was measured: {@code latency}, {@code latency-calls}, {@code bandwidth} or
 *     {@code rma}
 * @param call which call was timed, or null if not a single one was; {@code write} or {@code read}
 * @param sizeBytes the length of the messages
 * @param messages how many were measured (for the bandwidth: in each round, on all connections
 *     together)
 * @param latency half the round trip, or the time of the call; null for the bandwidth
 * @param floorNanos half the round trip of a bare cache line
 * @param messagesPerSecond the message rate of all connections together, the median of all rounds
 * @param bytesPerSecond the bytes that go with it
 * @param memcpyBytesPerSecond how fast one thread copies messages of that size in its own memory
 * @param rma how remote memory access went; null for messages
 */
public record Result(
    Subject subject,
    String command,
    @Nullable String call,
    int sizeBytes,
    long messages,
    @Nullable LatencySummary latency,
    OptionalDouble floorNanos,
    OptionalDouble messagesPerSecond,
    OptionalDouble bytesPerSecond,
    OptionalDouble memcpyBytesPerSecond,
    @Nullable RmaFigures rma) {

  /**
   * What there is to say of remote memory access alone.
   *
   * @param path the way that was taken, such as {@code cma}
   * @param floor what the same bytes were copied by beside it: {@code process_vm_writev}, {@code
   *     process_vm_readv} or {@code memcpy}
   * @param floorBytesPerSecond how fast that was, the median of all rounds
   */
  public record RmaFigures(String path, String floor, double floorBytesPerSecond) {}

  /**
   * Returns how this compares to the floor: the quotient of the two medians that are shown.
   *
   * @return the latency over the floor's, or for remote memory access the rate over the floor's;
   *     empty without a floor
   */
  public OptionalDouble floorRatio() {
    if (rma != null) {
      return Medians.ratio(bytesPerSecond, OptionalDouble.of(rma.floorBytesPerSecond()));
    }
    return latency == null
        ? OptionalDouble.empty()
        : Medians.ratio(OptionalDouble.of(latency.p50()), floorNanos);
  }

  /**
   * Returns how this compares to a plain copy: the quotient of the two medians that are shown.
   *
   * @return the bytes per second over the copy's; empty without one
   */
  public OptionalDouble memcpyRatio() {
    return Medians.ratio(bytesPerSecond, memcpyBytesPerSecond);
  }

  static Result latency(
      Subject subject, int size, long messages, LatencySummary latency, OptionalDouble floor) {
    return new Result(
        subject,
        "latency",
        null,
        size,
        messages,
        latency,
        floor,
        OptionalDouble.empty(),
        OptionalDouble.empty(),
        OptionalDouble.empty(),
        null);
  }

  static Result call(
      Subject subject, String call, int size, long messages, LatencySummary latency) {
    return new Result(
        subject,
        "latency-calls",
        call,
        size,
        messages,
        latency,
        OptionalDouble.empty(),
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
        OptionalDouble.empty(),
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
      OptionalDouble floor,
      OptionalDouble memcpy) {
    return new Result(
        subject,
        "bandwidth",
        null,
        size,
        messages,
        null,
        floor,
        OptionalDouble.of(messagesPerSecond),
        OptionalDouble.of(messagesPerSecond * size),
        memcpy,
        null);
  }
}
