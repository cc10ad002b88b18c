// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.tools.bench.Medians;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the deviations of models that are right, and of one that is wrong, with the noise. */
@Tag("long")
class LackOfFitTest {

  private static final PerformanceModel CARD =
      new PerformanceModel(PerformanceModelTest.CARD, true);
  private static final double NOISE = 0.05;
  private static final int ROUNDS = 5;

  private static String experiment(Observation observation) {
    return observation.kind() == Observation.Kind.LATENCY ? "latency" : "rates";
  }

  /** A measurement of a card whose messages beyond 4 KiB take longer by the given factors. */
  private record Trial(
      long seed,
      int rounds,
      double latencyNoise,
      double rateNoise,
      double longLatencies,
      double longRates) {

    Trial(long seed, int rounds, double noise, double beyond4KiB) {
      this(seed, rounds, noise, noise, beyond4KiB, beyond4KiB);
    }

    List<LackOfFit.Point> points() {
      Random random = new Random(seed);
      List<LackOfFit.Point> points = new ArrayList<>();
      for (Observation exact : Measurements.of(CARD, 0, random)) {
        boolean alone = exact.kind() == Observation.Kind.LATENCY;
        double beyond = alone ? longLatencies : longRates;
        double nanos = exact.nanos() * (exact.load().sizeBytes() > 4096 ? beyond : 1);
        double noise = alone ? latencyNoise : rateNoise;
        List<Double> values =
            random
                .doubles(rounds)
                .map(ignored -> nanos * Math.exp(noise * random.nextGaussian()))
                .boxed()
                .toList();
        double median = Medians.of(values).orElseThrow();
        points.add(
            new LackOfFit.Point(
                experiment(exact), new Observation(exact.kind(), exact.load(), median), values));
      }
      return points;
    }

    static FitResult fit(List<LackOfFit.Point> points) {
      return Fit.of(points.stream().map(LackOfFit.Point::observation).toList(), List.of(), true)
          .orElseThrow();
    }

    LackOfFit compare() {
      List<LackOfFit.Point> points = points();
      return LackOfFit.of(points, fit(points)).orElseThrow();
    }
  }

  @Test
  void theNoiseExplainsTheDeviationsOfTheRightModel() {
    int explained = 0;
    for (long seed = 0; seed < 10; seed++) {
      LackOfFit found = new Trial(seed, ROUNDS, NOISE, 1).compare();
      assertThat(found.parts()).extracting(LackOfFit.Part::experiment).contains("rates");
      assertThat(found.isNoisy()).isFalse();
      explained += found.isExplained() ? 1 : 0;
    }
    assertThat(explained).isGreaterThanOrEqualTo(9);
    assertThat(new Trial(1, ROUNDS, NOISE, 1).compare().text())
        .startsWith("The deviations of the model are within the noise of the rounds")
        .contains("in latency (95 % limit 1.0", "in rates (95 % limit 1.0");
  }

  /** The size of the deviations alone would not show the missing term. */
  @Test
  void aModelThatLacksATermDoesNotFit() {
    LackOfFit found = new Trial(1, ROUNDS, NOISE, 1.3).compare();
    assertThat(found.isExplained()).isFalse();
    assertThat(found.text()).startsWith("The model does not fit").contains("95 % limit");
  }

  /** With one variance for all points, the rates' noise would explain the latency's deviations. */
  @ParameterizedTest
  @ValueSource(longs = {1, 3})
  void noisyRatesDoNotHideAWrongLatencyCurve(long seed) {
    LackOfFit found = new Trial(seed, 3, 0.02, 0.5, 2.5, 1).compare();
    assertThat(found.isExplained()).isFalse();
    assertThat(found.text()).startsWith("The model does not fit").contains("in latency");
  }

  /**
   * The fit spreads the noise of the rates over the latencies, which does not make the model wrong.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void noisyRatesDoNotMakeARightLatencyCurveWrong(long seed) {
    assertThat(new Trial(seed, 3, 0.02, 0.2, 1, 1).compare().isExplained()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void aModelThatIsFarOffIsNeverSaidToBeWithinTheNoise(long seed) {
    Trial trial = new Trial(seed, 3, 1.5, 1);
    assertThat(Trial.fit(trial.points()).relativeError()).isGreaterThan(Math.log(2));
    LackOfFit found = trial.compare();
    assertThat(found.isExplained()).isTrue();
    assertThat(found.isNoisy()).isTrue();
    assertThat(found.text())
        .startsWith("The noise of the rounds is too great to reject the model")
        .doesNotContain("fits", "within the noise");
  }

  @Test
  void oneRoundShowsNoNoise() {
    List<LackOfFit.Point> points = new Trial(1, 1, NOISE, 1).points();
    assertThat(LackOfFit.of(points, Trial.fit(points))).isEmpty();
  }
}
