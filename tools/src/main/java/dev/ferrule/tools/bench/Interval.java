// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import org.jspecify.annotations.Nullable;

/**
 * What was measured in one interval of time, or in all of one size.
 *
 * @param sizeBytes the length of the messages
 * @param call for {@code rma}, {@code write} or {@code read}; otherwise null
 * @param startSeconds the start of the interval, since the end of the size's warm-up
 * @param endSeconds the end of the interval
 * @param messages the number of messages (of {@code rma}, accesses) measured
 * @param messagesPerSecond their rate while they were measured, without the pauses between rounds
 * @param latency the distribution of their times; null for the bandwidth
 */
public record Interval(
    int sizeBytes,
    @Nullable String call,
    double startSeconds,
    double endSeconds,
    long messages,
    double messagesPerSecond,
    @Nullable LatencySummary latency) {

  double bytesPerSecond() {
    return messagesPerSecond * sizeBytes;
  }
}
