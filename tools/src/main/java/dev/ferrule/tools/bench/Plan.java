// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * What to measure.
 *
 * @param sizes the lengths of the messages, in bytes
 * @param messages how many messages per size (for the bandwidth: per round); empty for as many as
 *     fit in a short time
 * @param warmup how many messages per size to send before; empty for as many as fit in a short time
 * @param rounds how many rounds to spread the messages over
 * @param pace how long a short time is
 */
public record Plan(
    List<Integer> sizes, OptionalLong messages, OptionalLong warmup, int rounds, Pace pace) {

  /**
   * How long things take whose number of messages nobody has set.
   *
   * @param firstWarmUpNanos the warm-up of the first size
   * @param nextWarmUpNanos that of each other size
   * @param latencyNanos all round trips of one size together
   * @param bandwidthNanos one round of one size
   */
  public record Pace(
      long firstWarmUpNanos, long nextWarmUpNanos, long latencyNanos, long bandwidthNanos) {

    /** Long enough for the JIT compiler to be done with the loops. */
    public static final Pace STEADY =
        new Pace(1_500_000_000, 300_000_000, 1_000_000_000, 250_000_000);
  }

  /** Parts start small, for a slow transport, and grow to this long. */
  private static final long PART_NANOS = 5_000_000;

  private static final int FIRST_PART = 16;

  /**
   * A plan at the usual pace.
   *
   * @param sizes the lengths of the messages, in bytes
   * @param messages how many messages per size; empty for as many as fit in a short time
   * @param warmup how many messages per size to send before; empty likewise
   * @param rounds how many rounds to spread the messages over
   */
  public Plan(List<Integer> sizes, OptionalLong messages, OptionalLong warmup, int rounds) {
    this(sizes, messages, warmup, rounds, Pace.STEADY);
  }

  /** One part of the warm-up: sends a number of messages. */
  interface Part {
    void send(int count);
  }

  /**
   * Sends messages that are not measured.
   *
   * @param first whether the loops are still cold
   * @param part sends them
   * @return how long one message took in the later half, in nanoseconds; 0 if there was no warm-up
   */
  double warmUp(boolean first, Part part) {
    long left = warmup.orElse(Long.MAX_VALUE);
    long end = System.nanoTime() + (first ? pace.firstWarmUpNanos() : pace.nextWarmUpNanos());
    List<Double> nanosPerMessage = new ArrayList<>();
    int count = FIRST_PART;
    while (left > 0 && (warmup.isPresent() || System.nanoTime() < end)) {
      int now = (int) Math.min(count, left);
      long before = System.nanoTime();
      part.send(now);
      long nanos = System.nanoTime() - before;
      nanosPerMessage.add(nanos / (double) now);
      left -= now;
      if (nanos < PART_NANOS) {
        count *= 2;
      }
    }
    int half = nanosPerMessage.size() / 2;
    return Medians.of(nanosPerMessage.subList(half, nanosPerMessage.size())).orElse(0);
  }
}
