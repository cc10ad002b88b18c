// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.time.Duration;
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
 * @param durationNanos the time for which the clock lets each size be measured, in all rounds
 *     together, instead of a number of messages; 0 for none
 */
public record Plan(
    List<Integer> sizes,
    OptionalLong messages,
    OptionalLong warmup,
    int rounds,
    Pace pace,
    long durationNanos) {

  /**
   * Durations that determine the number of messages if it is not set.
   *
   * @param firstWarmUpNanos the warm-up of the first size
   * @param nextWarmUpNanos the warm-up of each other size
   * @param latencyNanos all round trips of one size together
   * @param bandwidthNanos one round of one size
   * @param accessNanos each of the three parts of a round of remote memory access
   */
  public record Pace(
      long firstWarmUpNanos,
      long nextWarmUpNanos,
      long latencyNanos,
      long bandwidthNanos,
      long accessNanos) {

    /** The warm-up is long enough for the JIT compiler to compile the loops. */
    public static final Pace STEADY =
        new Pace(1_500_000_000, 300_000_000, 1_000_000_000, 250_000_000, 50_000_000);

    /** Limits what is measured beside a round that the clock ends to the time of the round. */
    private Pace limitedTo(long roundNanos) {
      return new Pace(
          firstWarmUpNanos,
          nextWarmUpNanos,
          latencyNanos,
          Math.min(bandwidthNanos, roundNanos),
          accessNanos);
    }
  }

  /** The maximum duration of a round in a plan for a duration. */
  private static final long LONGEST_ROUND_NANOS = 1_000_000_000;

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
   * Creates a plan.
   *
   * @param sizes the lengths of the messages, in bytes
   * @param messages the number of messages per size; empty for as many as fit in the time of {@code
   *     pace}
   * @param warmup the number of warm-up messages per size; empty likewise
   * @param rounds the number of rounds over which the messages are spread
   * @param pace the durations if a number is not set
   */
  public Plan(
      List<Integer> sizes, OptionalLong messages, OptionalLong warmup, int rounds, Pace pace) {
    this(sizes, messages, warmup, rounds, pace, 0);
  }

  /**
   * Returns a plan that measures each size for about a given time, in rounds of at most a second,
   * which the clock ends.
   *
   * @param sizes the lengths of the messages, in bytes
   * @param duration the time for each size
   * @param warmup the number of warm-up messages per size; empty for as many as fit in a short time
   * @param rounds the minimum number of planned rounds; fewer are measured if some take too long
   * @return a plan without a number of messages
   */
  public static Plan lasting(
      List<Integer> sizes, Duration duration, OptionalLong warmup, int rounds) {
    long nanos = duration.toNanos();
    int enough = Math.toIntExact(Math.max(rounds, Math.ceilDiv(nanos, LONGEST_ROUND_NANOS)));
    Pace pace = Pace.STEADY.limitedTo(nanos / enough);
    return new Plan(sizes, OptionalLong.empty(), warmup, enough, pace, nanos);
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

  /** Returns whether the clock ends each round, instead of a number of messages. */
  boolean isTimed() {
    return durationNanos > 0;
  }

  /**
   * Returns the time of a round that the clock ends. It brings the time of all rounds so far to its
   * share of the duration: a round that has taken too long shortens the next ones, or omits them.
   *
   * @param round the index of the round
   * @param spentNanos the time of the rounds before
   * @return the time; not positive if the round is to be omitted, which the first never is
   */
  long roundNanos(int round, long spentNanos) {
    long share = (long) (durationNanos * ((round + 1.0) / rounds)); // a product could overflow
    return (round + 1 == rounds ? durationNanos : share) - spentNanos;
  }

  /**
   * Returns whether a round that the clock ends is long enough for its rate to count. It is shorter
   * if earlier rounds have taken too long.
   *
   * @param round the index of the round
   * @param limitNanos its time
   */
  boolean hasRate(int round, long limitNanos) {
    return round == 0 || limitNanos >= durationNanos / rounds / 2;
  }

  /** Returns the number of messages in one round, given the number in all rounds. */
  int share(long ofAllRounds, int round) {
    return Math.toIntExact(ofAllRounds * (round + 1) / rounds - ofAllRounds * round / rounds);
  }
}
