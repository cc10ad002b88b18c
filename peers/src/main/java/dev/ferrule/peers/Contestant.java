// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers;

import dev.ferrule.peers.match.Entrant;
import dev.ferrule.peers.match.Match;
import dev.ferrule.peers.match.OneWay;
import dev.ferrule.peers.transport.Transport;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalDouble;
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

  /**
   * What came out.
   *
   * @param value nanoseconds, or messages per second
   * @param p99Nanos what 99 of 100 messages stay below; empty for rates, and if nobody has said
   */
  record Outcome(double value, OptionalDouble p99Nanos) {}

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
    return match.oneWay(Transport.SHORTEST, LINE_ROUND_TRIPS).medianNanos();
  }

  boolean takesPart(Measure measure) {
    return measure == Measure.LATENCY || entrant.hasRate();
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
            fitting,
            LEAST_COUNT,
            turn.measure() == Measure.LATENCY ? MOST_ROUND_TRIPS : MOST_MESSAGES);
  }

  private double perSecond(Turn turn, int count) {
    double value = measure(turn, count).value();
    return turn.measure() == Measure.LATENCY ? NANOS_PER_SECOND / WAYS / value : value;
  }

  /** Measures once; one who is not warm is warmed up before. */
  Outcome measure(Turn turn) {
    if (!counts.containsKey(turn)) {
      warmUp(turn);
    }
    return measure(turn, counts.get(turn));
  }

  private Outcome measure(Turn turn, int count) {
    if (turn.measure() == Measure.RATE) {
      return new Outcome(match.messagesPerSecond(turn.sizeBytes(), count), OptionalDouble.empty());
    }
    OneWay oneWay = match.oneWay(turn.sizeBytes(), count);
    return new Outcome(oneWay.medianNanos(), oneWay.p99Nanos());
  }

  @Override
  public void close() {
    match.close();
  }
}
