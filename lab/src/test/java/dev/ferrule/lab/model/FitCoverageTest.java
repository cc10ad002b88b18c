// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks a fit's statements about parameters against the model that generated the measurements. */
@Tag("long")
class FitCoverageTest {

  private static final int TRIALS = Integer.getInteger("ferrule.fit.trials", 12);

  private static final int BASE = Integer.getInteger("ferrule.fit.seed", 0);

  /** The required coverage of the 95 % intervals: the trials are few, and the model has corners. */
  private static final double ENOUGH = 0.9;

  private static final double NOISE = 0.05;
  private static final double NOISE_OF_CALLS = 0.03;
  private static final int ROUNDS = 3;
  private static final double TICK_NANOS = 10;

  /** How often a parameter was estimated, and how often its interval covered the truth. */
  private static final class Count {
    private int estimated;
    private int covered;

    private void add(boolean holds) {
      estimated++;
      covered += holds ? 1 : 0;
    }

    @Override
    public String toString() {
      return covered + "/" + estimated;
    }
  }

  private static Map<Parameter, Double> card(Random random) {
    Map<Parameter, Double> truth = new EnumMap<>(Parameter.class);
    for (Parameter parameter : Parameter.values()) { // the same order in each run
      double usual = PerformanceModelTest.CARD.get(parameter);
      truth.put(parameter, usual * Math.exp(random.nextGaussian() / 2));
    }
    truth.put(
        Parameter.DOORBELL,
        Math.min(truth.get(Parameter.DOORBELL), 0.9 * truth.get(Parameter.SEND_OVERHEAD)));
    return truth;
  }

  /** Returns timed calls: rounds differ, and all share the clock's rounding error. */
  private static List<TimedCall> time(Map<Parameter, Double> truth, Random random) {
    List<TimedCall> calls = new ArrayList<>();
    for (Parameter parameter :
        List.of(Parameter.SEND_OVERHEAD, Parameter.RECEIVE_OVERHEAD, Parameter.RECEIVE_GAP)) {
      double rounding = TICK_NANOS * (random.nextDouble() - random.nextDouble());
      List<Double> nanos = new ArrayList<>();
      for (int round = 0; round < ROUNDS; round++) {
        double exact = truth.get(parameter) * (1 + NOISE_OF_CALLS * random.nextGaussian());
        nanos.add(Math.max(0, exact + rounding));
      }
      calls.add(new TimedCall(parameter, nanos, TICK_NANOS));
    }
    return calls;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void intervalsAndBoundsHaveTheirNominalCoverage(boolean acknowledged) {
    Map<String, Count> counts = new TreeMap<>();
    List<String> others = new ArrayList<>();
    for (int seed = BASE; seed < BASE + TRIALS; seed++) {
      Random random = new Random(seed);
      Map<Parameter, Double> truth = card(random);
      PerformanceModel model = new PerformanceModel(truth, acknowledged);
      List<Observation> observations = Measurements.of(model, NOISE, random);
      FitResult fit = Fit.of(observations, time(truth, random), acknowledged).orElseThrow();
      if (!explainsAsWell(fit, observations, acknowledged)) {
        others.add(seed + ": " + fit);
      }
      fit.estimates()
          .forEach((parameter, estimate) -> {
            if (estimate.source() == Estimate.Source.TOGETHER
                || estimate.source() == Estimate.Source.UNDETERMINED) {
              return; // no estimate
            }
            String what = parameter.symbol() + " " + estimate.source();
            counts
                .computeIfAbsent(what, each -> new Count())
                .add(holds(estimate, trueValue(estimate, truth)));
          });
    }
    assertThat(others)
        .as("fits whose parameters, as written to the file, explain the measurements less well")
        .isEmpty();
    int estimated = counts.values().stream().mapToInt(count -> count.estimated).sum();
    int covered = counts.values().stream().mapToInt(count -> count.covered).sum();
    System.out.println("covered of estimated: " + counts);
    assertThat(estimated).isGreaterThan(4 * TRIALS);
    assertThat((double) covered / estimated).as("%s", counts).isGreaterThanOrEqualTo(ENOUGH);
  }

  /** Returns whether the parameters in the file explain the measurements as well as the fit. */
  private static boolean explainsAsWell(
      FitResult fit, List<Observation> observations, boolean acknowledged) {
    PerformanceModel written =
        new ParameterFile.Entry("test", acknowledged, fit.estimates(), "").model();
    double squares = 0;
    for (Observation observation : observations) {
      double off = Math.log(observation.predictedBy(written) / observation.nanos());
      squares += off * off;
    }
    double error = Math.sqrt(squares / observations.size());
    return error <= fit.relativeError() * 1.02 && error < 2 * NOISE;
  }

  /** Returns the true value; if the cards are interchangeable, that of the faster one. */
  private static double trueValue(Estimate estimate, Map<Parameter, Double> truth) {
    return estimate.note().startsWith("one of o_nsnd and o_nrcv")
        ? Math.min(truth.get(Parameter.SEND_NIC), truth.get(Parameter.RECEIVE_NIC))
        : truth.get(estimate.parameter());
  }

  private static boolean holds(Estimate estimate, double truth) {
    return estimate.low().orElse(0) <= truth && truth <= estimate.high().orElse(Double.MAX_VALUE);
  }
}
