// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.tools.bench.Medians;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Compares the deviations of models that are right, and of one that is wrong, with the noise. */
class LackOfFitTest {

  private static final PerformanceModel CARD =
      new PerformanceModel(PerformanceModelTest.CARD, true);
  private static final double NOISE = 0.05;
  private static final int ROUNDS = 5;

  /** Returns the comparison for a card whose messages beyond a size take so many times as long. */
  private static LackOfFit compare(long seed, int rounds, double beyond4KiB) {
    Random random = new Random(seed);
    List<Observation> medians = new ArrayList<>();
    List<List<Double>> all = new ArrayList<>();
    for (Observation exact : Measurements.of(CARD, 0, random)) {
      double nanos = exact.nanos() * (exact.load().sizeBytes() > 4096 ? beyond4KiB : 1);
      List<Double> values =
          random
              .doubles(rounds)
              .map(ignored -> nanos * Math.exp(NOISE * random.nextGaussian()))
              .boxed()
              .toList();
      all.add(values);
      medians.add(new Observation(exact.kind(), exact.load(), Medians.of(values).orElseThrow()));
    }
    FitResult fit = Fit.of(medians, List.of(), true).orElseThrow();
    return LackOfFit.of(all, fit).orElseThrow();
  }

  @Test
  void theModelOfWhatWasMeasuredFits() {
    int fits = 0;
    for (long seed = 0; seed < 10; seed++) {
      LackOfFit found = compare(seed, ROUNDS, 1);
      assertThat(found.noise()).isBetween(1.02, 1.04); // 5 % / √5, times 1.25 for the median
      fits += found.fits() ? 1 : 0;
    }
    assertThat(fits).isGreaterThanOrEqualTo(9);
    assertThat(compare(1, ROUNDS, 1).text()).startsWith("The model fits");
  }

  /** Too little to be seen from how far the predictions are off. */
  @Test
  void aModelThatLacksATermDoesNotFit() {
    LackOfFit found = compare(1, ROUNDS, 1.3);
    assertThat(found.fits()).isFalse();
    assertThat(found.text()).startsWith("The model does not fit").contains("F = ");
  }

  @Test
  void oneRoundShowsNoNoise() {
    List<Observation> exact = Measurements.of(CARD, NOISE, new Random(1));
    FitResult fit = Fit.of(exact, List.of(), true).orElseThrow();
    List<List<Double>> rounds = exact.stream().map(point -> List.of(point.nanos())).toList();
    assertThat(LackOfFit.of(rounds, fit)).isEmpty();
  }
}
