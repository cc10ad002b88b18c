// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ProfileTest {

  private static final List<Parameter> FREE =
      List.of(Parameter.SEND_NIC, Parameter.RECEIVE_NIC, Parameter.BYTE_ALONE, Parameter.DOORBELL);

  /** Returns a problem without batches, so that nothing depends on the doorbell. */
  private static FitProblem problemWithoutBatches() {
    Map<Parameter, Double> known = new EnumMap<>(PerformanceModelTest.CARD);
    FREE.forEach(known::remove);
    PerformanceModel truth = new PerformanceModel(PerformanceModelTest.CARD, true);
    Load load = new Load(16, 64, 1);
    return new FitProblem(
        List.of(
            new Observation(Observation.Kind.LATENCY, load, truth.latencyNanos(16)),
            new Observation(Observation.Kind.PERIOD, load, truth.periodNanos(load))),
        true,
        known,
        FREE);
  }

  /** A sum of steps misses the end of the search by a rounding error, on either side. */
  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void parametersWithoutEffectAreUnboundedFromAnyStart() {
    FitProblem problem = problemWithoutBatches();
    int doorbell = FREE.indexOf(Parameter.DOORBELL);
    for (int i = 1; i <= 300; i++) {
      double[] best =
          FREE.stream().mapToDouble(p -> Math.log(PerformanceModelTest.CARD.get(p))).toArray();
      best[doorbell] = 10 + i * Math.PI / 1000;
      Profile profile = new Profile(problem, best, 0.1);
      assertThat(profile.least(doorbell)).isEqualTo(LeastSquares.LEAST_LOG);
      assertThat(profile.most(doorbell)).isEqualTo(LeastSquares.MOST_LOG);
    }
  }
}
