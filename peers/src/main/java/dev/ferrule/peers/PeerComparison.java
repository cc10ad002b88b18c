// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers;

import dev.ferrule.peers.match.Entrant;
import dev.ferrule.peers.match.Match;
import dev.ferrule.peers.match.OneWay;
import dev.ferrule.peers.transport.Contenders;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Ours, its peers and the floor, in one run: everybody is warmed up, and then all have their turns,
 * round by round, so that whatever else the machine does hits all of them alike.
 */
public final class PeerComparison {

  private static final double NANOS_PER_SECOND = 1e9;
  private static final double WAYS = 2;
  private static final int FIRST_COUNT = 1_000;
  private static final int GROWTH = 4;
  private static final int LEAST_COUNT = 500;
  private static final int MOST_ROUND_TRIPS = 1_000_000;
  private static final int MOST_MESSAGES = 100_000_000;

  private final String ours;
  private final List<Entrant> entrants;
  private final Effort effort;
  private final Consumer<String> progress;

  /**
   * Creates a comparison.
   *
   * @param ours the name of the one of the entrants that the others are compared to
   * @param entrants who is to take part, in the order of the turns
   * @param effort how much to measure
   * @param progress is told in one line what is being done, and what goes wrong
   */
  public PeerComparison(
      String ours, List<Entrant> entrants, Effort effort, Consumer<String> progress) {
    this.ours = ours;
    this.entrants = entrants;
    this.effort = effort;
    this.progress = progress;
  }

  /** One entrant at work. */
  private record Running(Entrant entrant, Match match, Map<Turn, Integer> counts) {}

  /** What is measured in one go. */
  private record Turn(Measure measure, int sizeBytes) {}

  /**
   * Measures.
   *
   * @return the results
   */
  public Comparison run() {
    Instant start = Instant.now();
    OptionalDouble loadBefore = Noise.loadAverage();
    List<Running> running = new ArrayList<>();
    try {
      List<Comparison.Party> parties = start(running);
      Map<Turn, Series> series = new LinkedHashMap<>();
      for (Measure measure : Measure.values()) {
        for (int size : effort.sizesBytes()) {
          series.put(new Turn(measure, size), new Series(measure, size));
        }
      }
      for (Running one : running) {
        progress.accept("warming up " + one.entrant().name());
        series.keySet().forEach(turn -> warmUp(one, turn));
      }
      for (int round = 1; round <= effort.rounds(); round++) {
        progress.accept("round " + round + " of " + effort.rounds());
        series.forEach((turn, results) -> round(running, turn, results));
      }
      List<Figure> figures =
          series.values().stream()
              .flatMap(results -> results.figures(ours, Contenders.FLOOR).stream())
              .toList();
      return new Comparison(
          ours, start, effort.rounds(), parties, figures, loadBefore, Noise.loadAverage());
    } finally {
      running.forEach(one -> one.match().close());
    }
  }

  private List<Comparison.Party> start(List<Running> running) {
    List<Comparison.Party> parties = new ArrayList<>();
    for (Entrant entrant : entrants) {
      String missing = entrant.missing().orElse("");
      parties.add(new Comparison.Party(entrant.name(), entrant.version(), missing));
      if (missing.isEmpty()) {
        Consumer<String> problems = problem -> progress.accept(entrant.name() + ": " + problem);
        running.add(new Running(entrant, entrant.start(problems), new HashMap<>()));
      }
    }
    return parties;
  }

  private static boolean takesPart(Running one, Turn turn) {
    return turn.measure() == Measure.LATENCY || one.entrant().hasRate();
  }

  /** Measures until it is warm, and then knows how many messages a turn takes. */
  private void warmUp(Running one, Turn turn) {
    if (!takesPart(one, turn)) {
      return;
    }
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(effort.warmUpMillis());
    int count = FIRST_COUNT;
    do {
      double perSecond = perSecond(one.match(), turn, count);
      one.counts().put(turn, countFor(turn, perSecond));
      count = Math.min(count * GROWTH, one.counts().get(turn));
    } while (!one.entrant().warmsUpItself() && System.nanoTime() < end);
  }

  private int countFor(Turn turn, double perSecond) {
    double fitting = perSecond * effort.roundMillis() / TimeUnit.SECONDS.toMillis(1);
    return (int)
        Math.clamp(
            fitting,
            LEAST_COUNT,
            turn.measure() == Measure.LATENCY ? MOST_ROUND_TRIPS : MOST_MESSAGES);
  }

  private static double perSecond(Match match, Turn turn, int count) {
    return turn.measure() == Measure.LATENCY
        ? NANOS_PER_SECOND / WAYS / match.oneWay(turn.sizeBytes(), count).medianNanos()
        : match.messagesPerSecond(turn.sizeBytes(), count);
  }

  private static void round(List<Running> running, Turn turn, Series results) {
    for (Running one : running) {
      if (!takesPart(one, turn)) {
        continue;
      }
      String name = one.entrant().name();
      int count = one.counts().get(turn);
      if (turn.measure() == Measure.LATENCY) {
        OneWay oneWay = one.match().oneWay(turn.sizeBytes(), count);
        results.add(name, oneWay.medianNanos(), oneWay.p99Nanos());
      } else {
        results.add(
            name, one.match().messagesPerSecond(turn.sizeBytes(), count), OptionalDouble.empty());
      }
    }
  }
}
