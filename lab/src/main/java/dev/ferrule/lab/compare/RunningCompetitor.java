// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import dev.ferrule.lab.compare.competitor.BenchmarkRun;
import dev.ferrule.lab.compare.competitor.Competitor;
import dev.ferrule.lab.compare.competitor.Measure;
import dev.ferrule.lab.compare.competitor.Outcome;
import dev.ferrule.lab.compare.transport.Transport;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** A running competitor, which determines the number of messages of a measurement. */
final class RunningCompetitor implements AutoCloseable {

  private static final double NANOS_PER_SECOND = 1e9;
  private static final double WAYS = 2;
  private static final int FIRST_COUNT = 1_000;
  private static final int GROWTH = 4;
  private static final int LEAST_COUNT = 500;
  private static final double GAIN = 1.1;
  private static final int LONGEST_WARM_UP = 20; // times the usual duration

  /**
   * The minimum number of messages of a warm-up. On emulated processors the rate improves in steps
   * for many seconds, as the C2 compiler needs the usual number of calls, which are slow there.
   */
  private static final int WARM_UP_MESSAGES = 100_000;

  private static final long WARM_UP_NANOS = TimeUnit.SECONDS.toNanos(90); // for these, at most

  private static final int LINE_ROUND_TRIPS = 5_000; // about a millisecond
  private static final int MOST_ROUND_TRIPS = 1_000_000;
  private static final int MOST_MESSAGES = 100_000_000;

  private final Competitor competitor;
  private final BenchmarkRun run;
  private final Schedule schedule;
  private final Map<Setting, Integer> counts = new HashMap<>();
  private final Map<Measure, Long> messages = new EnumMap<>(Measure.class); // of warm-ups

  /** One measurement. */
  record Setting(Measure measure, int sizeBytes) {}

  RunningCompetitor(Competitor competitor, BenchmarkRun run, Schedule schedule) {
    this.competitor = competitor;
    this.run = run;
    this.schedule = schedule;
  }

  String name() {
    return competitor.name();
  }

  /** Returns the bare line's current latency, in nanoseconds; for the floor only. */
  double lineNanos() {
    if (counts.isEmpty()) {
      warmUp(new Setting(Measure.LATENCY, Transport.SHORTEST));
    }
    return run.measure(Measure.LATENCY, Transport.SHORTEST, LINE_ROUND_TRIPS).value();
  }

  boolean takesPart(Measure measure) {
    return competitor.takesPart(measure);
  }

  /**
   * Warms up until the rate has not improved by a tenth for the duration of a warm-up. How long the
   * JIT compiler takes depends on the competitor, and on the machine's load. Then determines the
   * number of messages of a measurement.
   */
  void warmUp(Setting setting) {
    long usual = TimeUnit.MILLISECONDS.toNanos(schedule.warmUpMillis());
    long start = System.nanoTime();
    long fasterAt = start;
    double fastest = 0;
    int count = FIRST_COUNT;
    long now;
    do {
      double perSecond = perSecond(setting, count);
      messages.merge(setting.measure(), (long) count, Long::sum);
      counts.put(setting, countFor(setting, perSecond));
      count = Math.min(count * GROWTH, counts.get(setting));
      now = System.nanoTime();
      if (perSecond > GAIN * fastest) {
        fastest = perSecond;
        fasterAt = now;
      }
    } while (!competitor.warmsUpItself()
        && ((now - fasterAt < usual && now - start < LONGEST_WARM_UP * usual)
            || (lacksMessages(setting.measure()) && now - start < WARM_UP_NANOS)));
  }

  /**
   * Returns whether the warm-up needs more messages. That of a wake-up does not: the code is a
   * small part of its time.
   */
  private boolean lacksMessages(Measure measure) {
    return measure != Measure.WAKE_UP && messages.getOrDefault(measure, 0L) < WARM_UP_MESSAGES;
  }

  private int countFor(Setting setting, double perSecond) {
    double fitting = perSecond * schedule.roundMillis() / TimeUnit.SECONDS.toMillis(1);
    return (int)
        Math.clamp(
            fitting, LEAST_COUNT, setting.measure().isTime() ? MOST_ROUND_TRIPS : MOST_MESSAGES);
  }

  private double perSecond(Setting setting, int count) {
    double value = measure(setting, count).value();
    return switch (setting.measure()) {
      case LATENCY -> NANOS_PER_SECOND / (WAYS * value);
      case WAKE_UP -> NANOS_PER_SECOND / (WAYS * value + Measure.BLOCKED_NANOS);
      default -> value;
    };
  }

  /** Measures once, after a warm-up if needed. */
  Outcome measure(Setting setting) {
    if (!counts.containsKey(setting)) {
      warmUp(setting);
    }
    return measure(setting, Objects.requireNonNull(counts.get(setting)));
  }

  private Outcome measure(Setting setting, int count) {
    return run.measure(setting.measure(), setting.sizeBytes(), count);
  }

  @Override
  public void close() {
    run.close();
  }
}
