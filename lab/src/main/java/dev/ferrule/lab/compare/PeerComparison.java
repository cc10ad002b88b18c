// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import dev.ferrule.lab.compare.competitor.Competitor;
import dev.ferrule.lab.compare.competitor.Measure;
import dev.ferrule.lab.compare.competitor.Outcome;
import dev.ferrule.lab.compare.transport.Mode;
import dev.ferrule.lab.compare.transport.TransportsUnderTest;
import dev.ferrule.lab.evaluate.Machine;
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
  private final List<Competitor> competitors;
  private final List<Measure> measures;
  private final Schedule schedule;
  private final Consumer<String> progress;

  /**
   * Creates a comparison with the competitor {@code ours}; the competitors are in the order of
   * measurement. {@code progress} receives one line for each step and each problem.
   */
  public PeerComparison(
      String ours,
      List<Competitor> competitors,
      List<Measure> measures,
      Schedule schedule,
      Consumer<String> progress) {
    this.ours = ours;
    this.competitors = competitors;
    this.measures = measures;
    this.schedule = schedule;
    this.progress = progress;
  }

  public Comparison run() {
    Instant start = Instant.now();
    OptionalDouble loadBefore = Machine.loadAverage();
    List<Comparison.CompetitorInfo> infos = competitors.stream().map(this::info).toList();
    List<Figure> figures =
        Arrays.stream(Mode.values()).flatMap(mode -> figures(mode).stream()).toList();
    return new Comparison(
        ours, start, schedule.rounds(), infos, figures, loadBefore, Machine.loadAverage());
  }

  private Comparison.CompetitorInfo info(Competitor competitor) {
    String missing =
        measures.stream().noneMatch(competitor::takesPart)
            ? "it does not support " + list(measures)
            : competitor.missing().orElse("");
    return new Comparison.CompetitorInfo(competitor.name(), competitor.version(), missing);
  }

  private static String list(List<Measure> measures) {
    return measures.stream().map(Measure::toString).collect(Collectors.joining(", "));
  }

  /** Measures one mode of connections; running processes of another mode would disturb it. */
  private List<Figure> figures(Mode mode) {
    Map<RunningCompetitor.Setting, Rounds> rounds = new LinkedHashMap<>();
    List<Measure> ofMode = measures.stream().filter(measure -> measure.mode() == mode).toList();
    for (Measure measure : ofMode) {
      for (int size : schedule.sizesBytes(measure)) {
        rounds.put(new RunningCompetitor.Setting(measure, size), new Rounds(measure, size));
      }
    }
    if (rounds.isEmpty()) {
      return List.of();
    }
    List<RunningCompetitor> running = new ArrayList<>();
    try {
      start(mode, ofMode, running);
      for (RunningCompetitor one : running) {
        progress.accept("warming up " + one.name() + " for " + list(ofMode));
        rounds.keySet().stream()
            .filter(setting -> one.takesPart(setting.measure()))
            .forEach(one::warmUp);
      }
      for (int round = 1; round <= schedule.rounds(); round++) {
        progress.accept("round " + round + " of " + schedule.rounds());
        rounds.forEach((setting, results) -> round(running, setting, results));
      }
      return rounds.values().stream()
          .flatMap(results -> results.figures(ours, TransportsUnderTest.FLOOR).stream())
          .toList();
    } finally {
      running.forEach(RunningCompetitor::close);
    }
  }

  /**
   * Starts the competitors. The floor is always started, to observe the placement of the
   * processors.
   */
  private void start(Mode mode, List<Measure> ofMode, List<RunningCompetitor> running) {
    for (Competitor competitor : competitors) {
      boolean isFloor = competitor.name().equals(TransportsUnderTest.FLOOR);
      if (competitor.missing().isEmpty()
          && (isFloor || ofMode.stream().anyMatch(competitor::takesPart))) {
        Consumer<String> problems = problem -> progress.accept(competitor.name() + ": " + problem);
        running.add(
            new RunningCompetitor(
                competitor,
                competitor.start(isFloor ? Mode.ONE_SENDER : mode, problems),
                schedule));
      }
    }
  }

  /**
   * Measures one round; repeats it, a limited number of times, if the processors were migrated
   * during it.
   */
  private static void round(
      List<RunningCompetitor> running, RunningCompetitor.Setting setting, Rounds results) {
    InterleavedRound round = interleaved(running, setting);
    for (int moves = 0; moves < MOST_MOVES && round.moved(); moves++) {
      round = interleaved(running, setting);
    }
    results.add(round);
  }

  private static InterleavedRound interleaved(
      List<RunningCompetitor> running, RunningCompetitor.Setting setting) {
    Optional<RunningCompetitor> floor =
        running.stream().filter(one -> one.name().equals(TransportsUnderTest.FLOOR)).findFirst();
    Map<String, Outcome> outcomes = new LinkedHashMap<>();
    List<Double> lines = new ArrayList<>();
    floor.ifPresent(line -> lines.add(line.lineNanos()));
    for (RunningCompetitor one : running) {
      if (one.takesPart(setting.measure())) {
        outcomes.put(one.name(), one.measure(setting));
        floor.ifPresent(line -> lines.add(line.lineNanos()));
      }
    }
    return new InterleavedRound(outcomes, LineSpan.of(lines));
  }
}
