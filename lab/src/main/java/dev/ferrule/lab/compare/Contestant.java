// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import dev.ferrule.lab.compare.match.Entrant;
import dev.ferrule.lab.compare.match.Match;
import dev.ferrule.lab.compare.match.Measure;
import dev.ferrule.lab.compare.match.Outcome;
import dev.ferrule.lab.compare.transport.Transport;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A running competitor, which determines the number of messages of a measurement. */
final class Contestant implements AutoCloseable {

  private static final double NANOS_PER_SECOND = 1e9;
  private static final double WAYS = 2;
  private static final int FIRST_COUNT = 1_000;
  private static final int GROWTH = 4;
  private static final int LEAST_COUNT = 500;
  private static final double GAIN = 1.1;
  private static final int LONGEST_WARM_UP = 20; // times the usual duration
  private static final int LINE_ROUND_TRIPS = 5_000; // about a millisecond
  private static final int MOST_ROUND_TRIPS = 1_000_000;
  private static final int MOST_MESSAGES = 100_000_000;

  private final Entrant entrant;
  private final Match match;
  private final Schedule schedule;
  private final Map<Turn, Integer> counts = new HashMap<>();

  /** One measurement. */
  record Turn(Measure measure, int sizeBytes) {}

  Contestant(Entrant entrant, Match match, Schedule schedule) {
    this.entrant = entrant;
    this.match = match;
    this.schedule = schedule;
  }

  String name() {
    return entrant.name();
  }

  /** Returns the bare line's current latency, in nanoseconds; for the floor only. */
  double lineNanos() {
    if (counts.isEmpty()) {
      warmUp(new Turn(Measure.LATENCY, Transport.SHORTEST));
    }
    return match.measure(Measure.LATENCY, Transport.SHORTEST, LINE_ROUND_TRIPS).value();
  }

  boolean takesPart(Measure measure) {
    return entrant.takesPart(measure);
  }

  /**
   * Warms up until the rate has not improved by a tenth for the duration of a warm-up. How long the
   * JIT compiler takes depends on the competitor, and on the machine's load. Then determines the
   * number of messages of a measurement.
   */
  void warmUp(Turn turn) {
    long usual = TimeUnit.MILLISECONDS.toNanos(schedule.warmUpMillis());
    long start = System.nanoTime();
    long fasterAt = start;
    double fastest = 0;
    int count = FIRST_COUNT;
    long now;
    do {
      double perSecond = perSecond(turn, count);
      counts.put(turn, countFor(turn, perSecond));
      count = Math.min(count * GROWTH, counts.get(turn));
      now = System.nanoTime();
      if (perSecond > GAIN * fastest) {
        fastest = perSecond;
        fasterAt = now;
      }
    } while (!entrant.warmsUpItself()
        && now - fasterAt < usual
        && now - start < LONGEST_WARM_UP * usual);
  }

  private int countFor(Turn turn, double perSecond) {
    double fitting = perSecond * schedule.roundMillis() / TimeUnit.SECONDS.toMillis(1);
    return (int)
        Math.clamp(
            fitting, LEAST_COUNT, turn.measure().isTime() ? MOST_ROUND_TRIPS : MOST_MESSAGES);
  }

  private double perSecond(Turn turn, int count) {
    double value = measure(turn, count).value();
    return switch (turn.measure()) {
      case LATENCY -> NANOS_PER_SECOND / (WAYS * value);
      case WAKE_UP -> NANOS_PER_SECOND / (WAYS * value + Measure.BLOCKED_NANOS);
      default -> value;
    };
  }

  /** Measures once, after a warm-up if needed. */
  Outcome measure(Turn turn) {
    if (!counts.containsKey(turn)) {
      warmUp(turn);
    }
    return measure(turn, counts.get(turn));
  }

  private Outcome measure(Turn turn, int count) {
    return match.measure(turn.measure(), turn.sizeBytes(), count);
  }

  @Override
  public void close() {
    match.close();
  }
}
