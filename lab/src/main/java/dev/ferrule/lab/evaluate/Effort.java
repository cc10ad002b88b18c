// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import dev.ferrule.tools.bench.Plan;
import java.util.List;
import java.util.OptionalLong;

/**
 * How much to measure.
 *
 * @param messages the number of messages of a point in each round; empty for as many as its time
 *     allows
 */
public record Effort(boolean quick, int rounds, OptionalLong messages) {

  private static final long MILLI = 1_000_000;

  private static final Plan.Pace QUICK =
      new Plan.Pace(120 * MILLI, 120 * MILLI, 200 * MILLI, 150 * MILLI, 50 * MILLI);
  private static final Plan.Pace THOROUGH =
      new Plan.Pace(300 * MILLI, 300 * MILLI, 1_000 * MILLI, 300 * MILLI, 50 * MILLI);
  private static final long COLD_NANOS = 1_500 * MILLI;
  private static final long NEW_NANOS = 600 * MILLI;
  private static final long QUICK_CALLS = 2_000;
  private static final long CALLS = 50_000;
  private static final long FEW = 10_000;
  private static final long QUICK_OVERRUN = 1_000;
  private static final long OVERRUN = 5_000;

  /** Enough that a receiver which is too slow uses up its receives. */
  private static final long LEAST_OVERRUN = 10L * Catalogue.OVERRUN_RECEIVES;

  /** The most that a server accepts for the slowest receiver. */
  private static final long MOST_OVERRUN = 30_000;

  /**
   * How far both processes have compiled the loops of a measurement, by earlier messages of its
   * kind.
   */
  enum Warmth {
    /** Nothing of this kind has been measured with this server. */
    COLD(COLD_NANOS),
    /** This kind has been measured, but not this size, whose code path may differ. */
    NEW_SIZE(NEW_NANOS),
    /** This kind and size have been measured. */
    WARM(0);

    private final long nanos;

    Warmth(long nanos) {
      this.nanos = nanos;
    }
  }

  Plan plan(int size, Warmth warmth) {
    Plan.Pace pace = quick ? QUICK : THOROUGH;
    Plan.Pace longer =
        new Plan.Pace(
            Math.max(pace.firstWarmUpNanos(), warmth.nanos),
            pace.nextWarmUpNanos(),
            pace.latencyNanos(),
            pace.bandwidthNanos(),
            pace.accessNanos());
    return new Plan(List.of(size), messages, warmUp(), 1, longer);
  }

  /**
   * Returns the number of warm-up messages: that of the messages to be measured, if these are few;
   * empty to warm up for a time.
   */
  private OptionalLong warmUp() {
    return messages.isPresent() && messages.getAsLong() < FEW ? messages : OptionalLong.empty();
  }

  /**
   * Returns the number of messages to a slow receiver on each connection, several times the number
   * of its receives.
   */
  long overrunMessages() {
    return Math.clamp(
        messages.orElse(quick ? QUICK_OVERRUN : OVERRUN), LEAST_OVERRUN, MOST_OVERRUN);
  }

  /** Returns the plan for calls that are timed individually. */
  Plan calls(int size, Warmth warmth) {
    Plan plan = plan(size, warmth);
    OptionalLong count =
        messages.isPresent() ? messages : OptionalLong.of(quick ? QUICK_CALLS : CALLS);
    return new Plan(plan.sizes(), count, plan.warmup(), 1, plan.pace());
  }
}
