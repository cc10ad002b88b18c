// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.ferrule.lab.compare.competitor.Measure;
import dev.ferrule.lab.compare.competitor.Outcome;
import dev.ferrule.tools.bench.LineSpan;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class RoundsTest {

  private static final OptionalDouble NONE = OptionalDouble.empty();

  private static InterleavedRound round(double floor, double ours, double theirs, Double... lines) {
    Map<String, Outcome> outcomes = new LinkedHashMap<>();
    outcomes.put("floor", new Outcome(floor, NONE));
    outcomes.put("sm", new Outcome(ours, NONE));
    outcomes.put("agrona", new Outcome(theirs, NONE));
    return new InterleavedRound(outcomes, LineSpan.of(List.of(lines)));
  }

  @Test
  void valuesAreMediansOfTheRounds() {
    Rounds rounds = new Rounds(Measure.LATENCY, 64);
    for (double nanos : new double[] {100, 9000, 120}) {
      rounds.add(
          new InterleavedRound(
              Map.of("sm", new Outcome(nanos, OptionalDouble.of(2 * nanos))), Optional.empty()));
    }
    Figure figure = rounds.figures("sm", "floor").get(0);
    assertThat(figure.value()).isEqualTo(120);
    assertThat(figure.p99Nanos()).hasValue(240);
    assertThat(figure.sizeBytes()).isEqualTo(64);
  }

  @Test
  void aRatioIsThatOfTheTwoMediansShown() {
    Rounds rounds = new Rounds(Measure.LATENCY, 64);
    double[] floor = {50, 200, 50};
    double[] ours = {100, 300, 150};
    double[] theirs = {200, 300, 100};
    for (int i = 0; i < floor.length; i++) {
      rounds.add(round(floor[i], ours[i], theirs[i]));
    }
    List<Figure> figures = rounds.figures("sm", "floor");
    assertThat(figures).extracting(Figure::competitor).containsExactly("floor", "sm", "agrona");
    // 150 over 50, though the rounds have 2, 1.5 and 3, whose median is 2
    assertThat(figures.get(1).ofFloor()).hasValue(3);
    assertThat(figures.get(1).oursToIt()).isEmpty();
    // 150 over 200, though the rounds have 0.5, 1 and 1.5
    assertThat(figures.get(2).oursToIt()).hasValue(0.75);
    assertThat(figures.get(2).p99Nanos()).isEmpty();
  }

  @Test
  void withoutAFloorThereIsNoRatioToIt() {
    Rounds rounds = new Rounds(Measure.RATE, 64);
    Map<String, Outcome> outcomes = new LinkedHashMap<>();
    outcomes.put("sm", new Outcome(2e6, NONE));
    outcomes.put("agrona", new Outcome(1e6, NONE));
    rounds.add(new InterleavedRound(outcomes, Optional.empty()));
    assertThat(rounds.figures("sm", "floor"))
        .allSatisfy(figure -> assertThat(figure.ofFloor()).isEmpty())
        .last()
        .satisfies(figure -> assertThat(figure.oursToIt()).hasValue(2));
  }

  @Test
  void roundsInAnotherPlacementHaveSeparateFigures() {
    Rounds rounds = new Rounds(Measure.LATENCY, 64);
    rounds.add(round(160, 300, 400, 160.0, 158.0, 170.0, 155.0));
    rounds.add(round(30, 80, 160, 30.0, 31.0, 33.0, 29.0));
    rounds.add(round(30, 90, 100, 30.0, 31.0, 150.0, 152.0)); // migrated during the round
    rounds.add(round(32, 82, 82, 30.0, 31.0, 33.0, 29.0));
    List<Figure> figures = rounds.figures("sm", "floor");
    assertThat(figures).hasSize(6);
    assertThat(figures.get(2)).extracting(Figure::competitor, Figure::rounds).contains("agrona", 2);
    assertThat(figures.get(2).lineNanos()).hasValueCloseTo(30.94, within(0.01));
    assertThat(figures.get(2).oursToIt()).hasValueCloseTo(81.0 / 121, within(0.001));
    assertThat(figures.get(5)).extracting(Figure::competitor, Figure::rounds).contains("agrona", 1);
    assertThat(figures.get(5).oursToIt()).hasValue(0.75);
    assertThat(figures.get(5).lineNanos()).hasValueCloseTo(162.33, within(0.01));
  }

  @Test
  void roundsWithAMigrationCountIfThereAreNoOthers() {
    Rounds rounds = new Rounds(Measure.LATENCY, 64);
    rounds.add(round(30, 90, 100, 30.0, 31.0, 150.0, 152.0));
    List<Figure> figures = rounds.figures("sm", "floor");
    assertThat(figures)
        .hasSize(3)
        .allSatisfy(figure -> assertThat(figure.lineNanos()).isEmpty())
        .allSatisfy(figure -> assertThat(figure.moved()).isTrue());
  }
}
