// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * What was measured for one size of message.
 *
 * @param subject whose numbers these are
 * @param command what was measured: {@code latency}, {@code latency-calls} or {@code bandwidth}
 * @param call which call was timed, or null if not a single one was
 * @param sizeBytes the length of the messages
 * @param messages how many were measured (for the bandwidth: in each round, on all connections
 *     together)
 * @param latency half the round trip, or the time of the call; null for the bandwidth
 * @param floorNanos half the round trip of a bare cache line
 * @param floorRatio the latency's median over the floor's, the median of all rounds
 * @param messagesPerSecond the message rate of all connections together, the median of all rounds
 * @param bytesPerSecond the bytes that go with it
 * @param memcpyBytesPerSecond how fast one thread copies messages of that size in its own memory
 */
public record Result(
    Subject subject,
    String command,
    @Nullable String call,
    int sizeBytes,
    long messages,
    @Nullable LatencySummary latency,
    OptionalDouble floorNanos,
    OptionalDouble floorRatio,
    OptionalDouble messagesPerSecond,
    OptionalDouble bytesPerSecond,
    OptionalDouble memcpyBytesPerSecond) {

  static Result latency(
      Subject subject,
      int size,
      long messages,
      LatencySummary latency,
      OptionalDouble floor,
      OptionalDouble ratio) {
    return new Result(
        subject,
        "latency",
        null,
        size,
        messages,
        latency,
        floor,
        ratio,
        OptionalDouble.empty(),
        OptionalDouble.empty(),
        OptionalDouble.empty());
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
        OptionalDouble.empty());
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
        OptionalDouble.empty(),
        OptionalDouble.of(messagesPerSecond),
        OptionalDouble.of(messagesPerSecond * size),
        memcpy);
  }
}
