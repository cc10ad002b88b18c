// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.IntConsumer;

/**
 * The sizes and numbers of messages to measure.
 *
 * @param sizes the lengths of the messages, in bytes
 * @param messages the number of messages per size (of a bandwidth: per round); empty for as many as
 *     fit in the time of {@code pace}
 * @param warmup the number of warm-up messages per size; empty for as many as fit in that time
 * @param rounds the number of rounds over which the messages are distributed
 * @param pace the durations if a number is not set
 */
public record Plan(
    List<Integer> sizes, OptionalLong messages, OptionalLong warmup, int rounds, Pace pace) {

  /**
   * Durations that determine the number of messages if it is not set.
   *
   * @param firstWarmUpNanos the warm-up of the first size
   * @param nextWarmUpNanos the warm-up of each other size
   * @param latencyNanos all round trips of one size together
   * @param bandwidthNanos one round of one size
   */
  public record Pace(
      long firstWarmUpNanos, long nextWarmUpNanos, long latencyNanos, long bandwidthNanos) {

    /** The warm-up is long enough for the JIT compiler to compile the loops. */
    public static final Pace STEADY =
        new Pace(1_500_000_000, 300_000_000, 1_000_000_000, 250_000_000);
  }

  /** The duration to which the parts of a warm-up grow. The first is short for a slow transport. */
  private static final long PART_NANOS = 5_000_000;

  private static final int FIRST_PART = 16;

  /**
   * Creates a plan at the usual pace.
   *
   * @param sizes the lengths of the messages, in bytes
   * @param messages the number of messages per size; empty for as many as fit in a short time
   * @param warmup the number of warm-up messages per size; empty likewise
   * @param rounds the number of rounds over which the messages are spread
   */
  public Plan(List<Integer> sizes, OptionalLong messages, OptionalLong warmup, int rounds) {
    this(sizes, messages, warmup, rounds, Pace.STEADY);
  }

  /**
   * Sends messages that are not measured. Returns the time of one message in the later half, in
   * nanoseconds; 0 if there was no warm-up.
   */
  double warmUp(boolean first, IntConsumer part) {
    long left = warmup.orElse(Long.MAX_VALUE);
    long end = System.nanoTime() + (first ? pace.firstWarmUpNanos() : pace.nextWarmUpNanos());
    List<Double> nanosPerMessage = new ArrayList<>();
    int count = FIRST_PART;
    while (left > 0 && (warmup.isPresent() || System.nanoTime() < end)) {
      int now = (int) Math.min(count, left);
      long before = System.nanoTime();
      part.accept(now);
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

  /**
   * Returns the number of messages to measure: the number that is set, or else as many as fit in
   * {@code budgetNanos} if each takes {@code nanos}, at least {@code least} and at most {@code
   * most}. If {@code nanos} is 0, {@code unknown} messages.
   */
  long messages(double nanos, long budgetNanos, long unknown, long least, long most) {
    return messages.orElse(
        Math.clamp(nanos == 0 ? unknown : (long) (budgetNanos / nanos), least, most));
  }

  /** Returns the number of messages in one round, given the number in all rounds. */
  int share(long ofAllRounds, int round) {
    return Math.toIntExact(ofAllRounds * (round + 1) / rounds - ofAllRounds * round / rounds);
  }
}
