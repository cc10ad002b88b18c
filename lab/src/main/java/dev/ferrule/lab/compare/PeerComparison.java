// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import dev.ferrule.lab.compare.match.Entrant;
import dev.ferrule.lab.compare.match.Measure;
import dev.ferrule.lab.compare.match.Outcome;
import dev.ferrule.lab.compare.transport.Contenders;
import dev.ferrule.lab.compare.transport.Mode;
import dev.ferrule.tools.bench.LineSpan;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Compares Ferrule, its competitors and the floor in one run: each is warmed up, and then the
 * rounds of all are interleaved, so that disturbances affect all of them alike. The floor is also
 * measured after each measurement, since hypervisors migrate the processors of virtual machines.
 * One {@link Mode} is measured after the other.
 */
public final class PeerComparison {

  private static final int MOST_MOVES = 2;

  private final String ours;
  private final List<Entrant> entrants;
  private final List<Measure> measures;
  private final Schedule schedule;
  private final Consumer<String> progress;

  /**
   * Creates a comparison.
   *
   * @param ours the name of the competitor with which the others are compared
   * @param entrants the competitors, in the order of measurement
   * @param measures what to measure
   * @param schedule how much to measure
   * @param progress receives one line for each step and each problem
   */
  public PeerComparison(
      String ours,
      List<Entrant> entrants,
      List<Measure> measures,
      Schedule schedule,
      Consumer<String> progress) {
    this.ours = ours;
    this.entrants = entrants;
    this.measures = measures;
    this.schedule = schedule;
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
    List<Comparison.Party> parties = entrants.stream().map(this::party).toList();
    List<Figure> figures =
        Arrays.stream(Mode.values()).flatMap(mode -> figures(mode).stream()).toList();
    return new Comparison(
        ours, start, schedule.rounds(), parties, figures, loadBefore, Noise.loadAverage());
  }

  private Comparison.Party party(Entrant entrant) {
    String missing =
        measures.stream().noneMatch(entrant::takesPart)
            ? "it does not support " + list(measures)
            : entrant.missing().orElse("");
    return new Comparison.Party(entrant.name(), entrant.version(), missing);
  }

  private static String list(List<Measure> measures) {
    return measures.stream().map(Measure::toString).collect(Collectors.joining(", "));
  }

  /** Measures one mode of connections; the processes of another mode would disturb. */
  private List<Figure> figures(Mode mode) {
    Map<Contestant.Turn, Rounds> rounds = new LinkedHashMap<>();
    List<Measure> ofMode = measures.stream().filter(measure -> measure.mode() == mode).toList();
    for (Measure measure : ofMode) {
      for (int size : schedule.sizesBytes(measure)) {
        rounds.put(new Contestant.Turn(measure, size), new Rounds(measure, size));
      }
    }
    if (rounds.isEmpty()) {
      return List.of();
    }
    List<Contestant> running = new ArrayList<>();
    try {
      start(mode, ofMode, running);
      for (Contestant one : running) {
        progress.accept("warming up " + one.name() + " for " + list(ofMode));
        rounds.keySet().stream().filter(turn -> one.takesPart(turn.measure())).forEach(one::warmUp);
      }
      for (int round = 1; round <= schedule.rounds(); round++) {
        progress.accept("round " + round + " of " + schedule.rounds());
        rounds.forEach((turn, results) -> round(running, turn, results));
      }
      return rounds.values().stream()
          .flatMap(results -> results.figures(ours, Contenders.FLOOR).stream())
          .toList();
    } finally {
      running.forEach(Contestant::close);
    }
  }

  /**
   * Starts the competitors. The floor is always started, to observe the placement of the
   * processors.
   */
  private void start(Mode mode, List<Measure> ofMode, List<Contestant> running) {
    for (Entrant entrant : entrants) {
      boolean isFloor = entrant.name().equals(Contenders.FLOOR);
      if (entrant.missing().isEmpty()
          && (isFloor || ofMode.stream().anyMatch(entrant::takesPart))) {
        Consumer<String> problems = problem -> progress.accept(entrant.name() + ": " + problem);
        running.add(
            new Contestant(
                entrant, entrant.start(isFloor ? Mode.ONE_SENDER : mode, problems), schedule));
      }
    }
  }

  /**
   * Measures one round, again if the processors were migrated meanwhile, a limited number of times.
   */
  private static void round(List<Contestant> running, Contestant.Turn turn, Rounds results) {
    Turns round = turns(running, turn);
    for (int moves = 0; moves < MOST_MOVES && round.moved(); moves++) {
      round = turns(running, turn);
    }
    results.add(round);
  }

  private static Turns turns(List<Contestant> running, Contestant.Turn turn) {
    Optional<Contestant> floor =
        running.stream().filter(one -> one.name().equals(Contenders.FLOOR)).findFirst();
    Map<String, Outcome> outcomes = new LinkedHashMap<>();
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
