// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class SeriesTest {

  private static final OptionalDouble NONE = OptionalDouble.empty();

  @Test
  void valuesAreMediansOfTheRounds() {
    Series series = new Series(Measure.LATENCY, 64);
    for (double nanos : new double[] {100, 9000, 120}) {
      series.add("sm", nanos, OptionalDouble.of(2 * nanos));
    }
    Figure figure = series.figures("sm", "floor").get(0);
    assertThat(figure.value()).isEqualTo(120);
    assertThat(figure.p99Nanos()).hasValue(240);
    assertThat(figure.sizeBytes()).isEqualTo(64);
  }

  @Test
  void ratiosAreMediansOfEachRoundsRatio() {
    Series series = new Series(Measure.LATENCY, 64);
    double[] floor = {50, 200, 50};
    double[] ours = {100, 300, 150};
    double[] theirs = {200, 300, 100};
    for (int i = 0; i < floor.length; i++) {
      series.add("floor", floor[i], NONE);
      series.add("sm", ours[i], NONE);
      series.add("agrona", theirs[i], NONE);
    }
    List<Figure> figures = series.figures("sm", "floor");
    assertThat(figures).extracting(Figure::entrant).containsExactly("floor", "sm", "agrona");
    // of 2, 1.5 and 3, though the medians are 150 and 50
    assertThat(figures.get(1).ofFloor()).hasValue(2);
    assertThat(figures.get(1).oursToIt()).isEmpty();
    // of 0.5, 1 and 1.5, though the medians are 150 and 200
    assertThat(figures.get(2).oursToIt()).hasValue(1);
    assertThat(figures.get(2).p99Nanos()).isEmpty();
  }

  @Test
  void withoutAFloorThereIsNoRatioToIt() {
    Series series = new Series(Measure.RATE, 64);
    series.add("sm", 2e6, NONE);
    series.add("agrona", 1e6, NONE);
    assertThat(series.figures("sm", "floor"))
        .allSatisfy(figure -> assertThat(figure.ofFloor()).isEmpty())
        .last()
        .satisfies(figure -> assertThat(figure.oursToIt()).hasValue(2));
  }
}
