// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers;

import dev.ferrule.peers.match.Entrant;
import dev.ferrule.peers.match.Match;
import dev.ferrule.peers.match.Measure;
import dev.ferrule.peers.match.Outcome;
import dev.ferrule.peers.transport.Transport;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** An entrant at work, who knows how many messages a turn takes. */
final class Contestant implements AutoCloseable {

  private static final double NANOS_PER_SECOND = 1e9;
  private static final double WAYS = 2;
  private static final int FIRST_COUNT = 1_000;
  private static final int GROWTH = 4;
  private static final int LEAST_COUNT = 500;
  private static final int LINE_ROUND_TRIPS = 5_000; // a millisecond or so
  private static final int MOST_ROUND_TRIPS = 1_000_000;
  private static final int MOST_MESSAGES = 100_000_000;

  private final Entrant entrant;
  private final Match match;
  private final Effort effort;
  private final Map<Turn, Integer> counts = new HashMap<>();

  /** What is measured in one go. */
  record Turn(Measure measure, int sizeBytes) {}

  Contestant(Entrant entrant, Match match, Effort effort) {
    this.entrant = entrant;
    this.match = match;
    this.effort = effort;
  }

  String name() {
    return entrant.name();
  }

  /** How long the bare line takes just now, in nanoseconds; for the floor. */
  double lineNanos() {
    if (counts.isEmpty()) {
      warmUp(new Turn(Measure.LATENCY, Transport.SHORTEST));
    }
    return match.measure(Measure.LATENCY, Transport.SHORTEST, LINE_ROUND_TRIPS).value();
  }

  boolean takesPart(Measure measure) {
    return entrant.takesPart(measure);
  }

  /** Measures until it is warm, and then knows how many messages a turn takes. */
  void warmUp(Turn turn) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(effort.warmUpMillis());
    int count = FIRST_COUNT;
    do {
      counts.put(turn, countFor(turn, perSecond(turn, count)));
      count = Math.min(count * GROWTH, counts.get(turn));
    } while (!entrant.warmsUpItself() && System.nanoTime() < end);
  }

  private int countFor(Turn turn, double perSecond) {
    double fitting = perSecond * effort.roundMillis() / TimeUnit.SECONDS.toMillis(1);
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

  /** Measures once; one who is not warm is warmed up before. */
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
