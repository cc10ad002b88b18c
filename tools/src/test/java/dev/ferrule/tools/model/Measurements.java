// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Measurements that a known model would give, with noise. */
final class Measurements {

  private static final int[] SIZES = {16, 64, 256, 1024, 4096, 16384, 65536};
  private static final int SHORT = 16;

  private final PerformanceModel truth;
  private final double noise;
  private final Random random;
  private final List<Observation> observations = new ArrayList<>();

  private Measurements(PerformanceModel truth, double noise, Random random) {
    this.truth = truth;
    this.noise = noise;
    this.random = random;
  }

  /** What an evaluation measures, about: 43 points. */
  static List<Observation> of(PerformanceModel truth, double noise, Random random) {
    Measurements all = new Measurements(truth, noise, random);
    for (int size : SIZES) {
      all.add(Observation.Kind.LATENCY, new Load(size, 1, 1));
      all.add(Observation.Kind.PERIOD, new Load(size, 1, 1));
      all.add(Observation.Kind.PERIOD, new Load(size, 64, 1));
      all.add(Observation.Kind.PERIOD, new Load(size, 256, 8));
    }
    for (int unacked = 1; unacked <= 256; unacked *= 2) {
      all.add(Observation.Kind.PERIOD, new Load(SHORT, unacked, 1));
    }
    for (int batch = 1; batch <= 32; batch *= 2) {
      all.add(Observation.Kind.PERIOD, new Load(SHORT, 256, batch));
    }
    return all.observations;
  }

  private void add(Observation.Kind kind, Load load) {
    double exact = new Observation(kind, load, 1).predictedBy(truth);
    observations.add(new Observation(kind, load, exact * Math.exp(noise * random.nextGaussian())));
  }
}
