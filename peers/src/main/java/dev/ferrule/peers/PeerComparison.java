// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers;

import dev.ferrule.peers.match.Entrant;
import dev.ferrule.peers.transport.Contenders;
import dev.ferrule.tools.bench.LineSpan;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Consumer;

/**
 * Ours, its peers and the floor, in one run: everybody is warmed up, and then all have their turns,
 * round by round, so that whatever else the machine does hits all of them alike. The floor is also
 * looked at after every turn, since the processors of virtual machines are moved.
 */
public final class PeerComparison {

  private static final int MOST_MOVES = 2;

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

  /**
   * Measures.
   *
   * @return the results
   */
  public Comparison run() {
    Instant start = Instant.now();
    OptionalDouble loadBefore = Noise.loadAverage();
    List<Contestant> running = new ArrayList<>();
    try {
      List<Comparison.Party> parties = start(running);
      Map<Contestant.Turn, Series> series = new LinkedHashMap<>();
      for (Measure measure : Measure.values()) {
        for (int size : effort.sizesBytes()) {
          series.put(new Contestant.Turn(measure, size), new Series(measure, size));
        }
      }
      for (Contestant one : running) {
        progress.accept("warming up " + one.name());
        series.keySet().stream().filter(turn -> one.takesPart(turn.measure())).forEach(one::warmUp);
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
      running.forEach(Contestant::close);
    }
  }

  private List<Comparison.Party> start(List<Contestant> running) {
    List<Comparison.Party> parties = new ArrayList<>();
    for (Entrant entrant : entrants) {
      String missing = entrant.missing().orElse("");
      parties.add(new Comparison.Party(entrant.name(), entrant.version(), missing));
      if (missing.isEmpty()) {
        Consumer<String> problems = problem -> progress.accept(entrant.name() + ": " + problem);
        running.add(new Contestant(entrant, entrant.start(problems), effort));
      }
    }
    return parties;
  }

  /** Once more if the processors were moved in the middle of it, but not for ever. */
  private static void round(List<Contestant> running, Contestant.Turn turn, Series results) {
    Turns round = turns(running, turn);
    for (int moves = 0; moves < MOST_MOVES && round.moved(); moves++) {
      round = turns(running, turn);
    }
    results.add(round);
  }

  private static Turns turns(List<Contestant> running, Contestant.Turn turn) {
    Optional<Contestant> floor =
        running.stream().filter(one -> one.name().equals(Contenders.FLOOR)).findFirst();
    Map<String, Contestant.Outcome> outcomes = new LinkedHashMap<>();
    List<Double> lines = new ArrayList<>();
    floor.ifPresent(line -> lines.add(line.lineNanos()));
    for (Contestant one : running) {
      if (one.takesPart(turn.measure())) {
        outcomes.put(one.name(), one.measure(turn));
        floor.ifPresent(line -> lines.add(line.lineNanos()));
      }
    }
    return new Turns(outcomes, LineSpan.of(lines));
  }
}
