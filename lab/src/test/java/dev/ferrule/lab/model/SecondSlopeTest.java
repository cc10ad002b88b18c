// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares models of cards that have a second slope, and of one that has none. */
@Tag("long")
class SecondSlopeTest {

  private static final PerformanceModel CARD =
      new PerformanceModel(PerformanceModelTest.CARD, true);

  private static List<TimedCall> calls() {
    return List.of(Parameter.SEND_OVERHEAD, Parameter.RECEIVE_OVERHEAD, Parameter.RECEIVE_GAP)
        .stream()
        .map(parameter -> new TimedCall(parameter, List.of(CARD.get(parameter)), 0))
        .toList();
  }

  /** Returns measurements of a card on which the bytes beyond an MTU take another time. */
  private static List<Observation> observations(int mtu, double factor, double noise, long seed) {
    Random random = new Random(seed);
    return Measurements.of(CARD, 0, new Random(0)).stream()
        .map(exact -> {
          Load load = exact.load();
          int size = load.sizeBytes();
          int asIf = size <= mtu ? size : (int) (mtu + (size - mtu) * factor);
          Load other = new Load(asIf, load.unacked(), load.batch());
          double nanos = new Observation(exact.kind(), other, 1).predictedBy(CARD);
          return new Observation(
              exact.kind(), load, nanos * Math.exp(noise * random.nextGaussian()));
        })
        .toList();
  }

  private static SecondSlope compare(List<Observation> observations) {
    FitResult fit = Fit.of(observations, calls(), true).orElseThrow();
    return SecondSlope.of(observations, fit).orElseThrow();
  }

  @ParameterizedTest
  @CsvSource({"1024, 0.4, 1", "1024, 0.4, 2", "1024, 3, 3", "1024, 3, 4", "256, 0.3, 5"})
  void aSecondSlopeIsFound(int mtu, double factor, long seed) {
    SecondSlope found = compare(observations(mtu, factor, 0.03, seed));
    assertThat(found.gain()).isGreaterThan(10);
    assertThat(found.factor()).isCloseTo(factor, Percentage.withPercentage(30));
    assertThat(found.text()).startsWith("one G for all bytes does not fit");
  }

  @Test
  void noSecondSlopeIsClaimedWhereThereIsNone() {
    int claims = 0;
    for (long seed = 0; seed < 10; seed++) {
      SecondSlope found = compare(observations(1024, 1, 0.05, seed));
      claims += found.gain() > 10 ? 1 : 0;
      assertThat(found.text()).contains("MTU", "AICc");
    }
    assertThat(claims).isZero();
  }

  @Test
  void fewSizesDoNotShowASecondSlope() {
    List<Observation> few =
        observations(1024, 0.4, 0.03, 1).stream()
            .filter(observation -> observation.load().sizeBytes() <= 4096)
            .toList();
    FitResult fit = Fit.of(few, calls(), true).orElseThrow();
    assertThat(SecondSlope.of(few, fit)).isEmpty();
  }

  /** A parameter that no point depends on must not count in the criterion. */
  @Test
  void parametersThatNoMeasurementDependsOnDoNotHideASecondSlope() {
    int found = 0;
    for (long seed = 0; seed < 10; seed++) {
      SecondSlope slope = compareAlone(observations(1024, 3, 0.03, seed));
      found += slope.gain() > 0 ? 1 : 0;
    }
    assertThat(found).isGreaterThanOrEqualTo(3);
  }

  @Test
  void aSecondSlopeThatChanceExplainsIsNotRequired() {
    SecondSlope slope = compareAlone(observations(1024, 1, 0.03, 0));
    assertThat(slope.gain()).isBetween(-10.0, 0.0);
    assertThat(slope.text()).startsWith("the measurements do not require a second G");
  }

  /** The search must not end in a local optimum. */
  @ParameterizedTest
  @ValueSource(longs = {9, 15})
  void noOtherStartFindsABetterSecondSlope(long seed) {
    List<Observation> few = alone(observations(1024, 3, 0.03, seed));
    FitResult fit = Fit.of(few, List.of(), true).orElseThrow();
    SecondSlope found = SecondSlope.of(few, fit).orElseThrow();
    FitProblem one = FitProblem.of(few, fit);
    double squaresFound = few.size() * Math.pow(Math.log(found.error()), 2);
    Random random = new Random(seed);
    for (double factor : new double[] {found.factor(), 2.2, 2.8}) {
      FitProblem two =
          one.withSizes(size -> size <= 1024 ? size : (int) (1024 + (size - 1024) * factor));
      for (int i = 0; i < 20; i++) {
        double[] start =
            Arrays.stream(one.pointOf(fit.model()))
                .map(log -> log + 2 * random.nextGaussian())
                .toArray();
        double squares = two.squares(LeastSquares.from(start, two));
        assertThat(Math.exp(Math.sqrt(squares / few.size()))).isGreaterThan(found.error() - 0.0002);
      }
    }
  }

  private static List<Observation> alone(List<Observation> observations) {
    return observations.stream()
        .filter(observation -> observation.load().unacked() == 1 && observation.load().batch() == 1)
        .toList();
  }

  /** Compares models of the messages that were sent one at a time, without timed calls. */
  private static SecondSlope compareAlone(List<Observation> observations) {
    List<Observation> alone = alone(observations);
    FitResult fit = Fit.of(alone, List.of(), true).orElseThrow();
    return SecondSlope.of(alone, fit).orElseThrow();
  }
}
