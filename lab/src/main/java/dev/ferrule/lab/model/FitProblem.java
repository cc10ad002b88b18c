// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.function.UnaryOperator;

/**
 * The problem of a fit: measurements, known parameters and free parameters. A point consists of the
 * logarithms of the free parameters, so that none becomes negative.
 */
final class FitProblem {

  private static final double DIFFERENCE = 1e-5;

  /**
   * The weight of a preference relative to a measurement: just enough to choose among equally good
   * fits.
   */
  private static final double PREFERENCE_WEIGHT = 2e-3;

  /** The preferred time of a card if only its sum with L is determined. */
  private static final double SMALL_NANOS = 1;

  /** The preferred additional time per byte if only the sum with G is determined. */
  private static final double SMALL_NANOS_PER_BYTE = 1e-4;

  private static final int PREFERENCES = 4;

  /** Replaces a measured time of 0, which has no logarithm. */
  private static final double LEAST_NANOS = 1e-3;

  private final List<Observation> observations;
  private final boolean acknowledged;
  private final Map<Parameter, Double> known;
  private final List<Parameter> free;
  private final List<Pull> pulls;
  private final int sending;
  private final int receiving;
  private final int alone;

  /**
   * A residual that holds a parameter near its measured value.
   *
   * @param reachNanos the deviation that counts as much as a measurement that is off by {@code
   *     weight}
   * @param weight that measurement's deviation, as a logarithm
   */
  private record Pull(Parameter parameter, double nanos, double reachNanos, double weight) {}

  private FitProblem(
      List<Observation> observations,
      boolean acknowledged,
      Map<Parameter, Double> known,
      List<Parameter> free,
      List<Pull> pulls) {
    this.observations = List.copyOf(observations);
    this.acknowledged = acknowledged;
    this.known = new EnumMap<>(Parameter.class);
    this.known.putAll(known);
    this.free = List.copyOf(free);
    this.pulls = List.copyOf(pulls);
    this.sending = free.indexOf(Parameter.SEND_NIC);
    this.receiving = free.indexOf(Parameter.RECEIVE_NIC);
    this.alone = free.indexOf(Parameter.BYTE_ALONE);
  }

  /** Creates a problem whose free parameters include both cards and {@code G_alone}. */
  FitProblem(
      List<Observation> observations,
      boolean acknowledged,
      Map<Parameter, Double> known,
      List<Parameter> free) {
    this(observations, acknowledged, known, free, List.of());
  }

  /** Returns the problem that a fit has solved; its measured parameters are known. */
  static FitProblem of(List<Observation> observations, FitResult fit) {
    Map<Parameter, Double> known = new EnumMap<>(Parameter.class);
    List<Parameter> free = new ArrayList<>();
    fit.estimates()
        .forEach((parameter, estimate) -> {
          if (estimate.source() == Estimate.Source.MEASURED) {
            known.put(parameter, estimate.value());
          } else {
            free.add(parameter);
          }
        });
    return new FitProblem(observations, fit.model().acknowledged(), known, free);
  }

  /**
   * Returns the problem in which the timed parameters are free as well, but held near their
   * measured values: half the width of the 95 % interval counts as much as a measurement that is
   * off by {@code weight}, as a logarithm.
   */
  FitProblem relaxed(Collection<Estimate> timed, double weight) {
    Map<Parameter, Double> rest = new EnumMap<>(Parameter.class);
    rest.putAll(known);
    List<Parameter> found = new ArrayList<>(free);
    List<Pull> all = new ArrayList<>();
    for (Estimate estimate : timed) {
      double reach = estimate.high().orElse(estimate.value()) - estimate.value();
      if (reach > 0) {
        rest.remove(estimate.parameter());
        found.add(estimate.parameter());
        all.add(new Pull(estimate.parameter(), estimate.value(), reach, weight));
      }
    }
    return new FitProblem(observations, acknowledged, rest, found, all);
  }

  /** Returns the same problem with messages of other sizes. */
  FitProblem withSizes(IntUnaryOperator size) {
    List<Observation> others =
        observations.stream()
            .map(observation -> {
              Load load = observation.load();
              int bytes = size.applyAsInt(load.sizeBytes());
              Load other = new Load(bytes, load.unacked(), load.batch());
              return new Observation(observation.kind(), other, observation.nanos());
            })
            .toList();
    return new FitProblem(others, acknowledged, known, free, pulls);
  }

  /** Converts a point of the original problem to this relaxed one. */
  double[] extended(double[] point) {
    double[] extended = Arrays.copyOf(point, free.size());
    for (int i = point.length; i < extended.length; i++) {
      extended[i] = Math.log(Math.max(LEAST_NANOS, pulls.get(i - point.length).nanos()));
    }
    return extended;
  }

  List<Observation> observations() {
    return observations;
  }

  List<Parameter> free() {
    return free;
  }

  /**
   * Returns the point of a model, or the nearest one that a search admits. A doorbell that is all
   * of o_snd is replaced by the greatest value: any greater one predicts the same, and there its
   * derivative is 0.
   */
  double[] pointOf(PerformanceModel model) {
    boolean isAll = model.get(Parameter.DOORBELL) >= model.get(Parameter.SEND_OVERHEAD);
    return free.stream()
        .mapToDouble(parameter ->
            isAll && parameter == Parameter.DOORBELL
                ? LeastSquares.MOST_LOG
                : Math.log(model.get(parameter)))
        .map(log -> Math.clamp(log, LeastSquares.LEAST_LOG, LeastSquares.MOST_LOG))
        .toArray();
  }

  PerformanceModel model(double[] point) {
    Map<Parameter, Double> values = new EnumMap<>(Parameter.class);
    values.putAll(known);
    for (int i = 0; i < point.length; i++) {
      values.put(free.get(i), Math.exp(point[i]));
    }
    return new PerformanceModel(values, acknowledged);
  }

  boolean acknowledged() {
    return acknowledged;
  }

  /**
   * Returns the deviations of the predictions, as logarithms, and those of the timed parameters.
   */
  double[] residuals(double[] point) {
    return residuals(point, 0);
  }

  private double[] residuals(double[] point, int more) {
    PerformanceModel model = model(point);
    double[] residuals = new double[observations.size() + pulls.size() + more];
    int row = 0;
    for (Observation observation : observations) {
      residuals[row++] = Math.log(observation.predictedBy(model) / observation.nanos());
    }
    for (Pull pull : pulls) {
      double off = model.get(pull.parameter()) - pull.nanos();
      residuals[row++] = off / pull.reachNanos() * pull.weight();
    }
    return residuals;
  }

  double squares(double[] point) {
    return sumOfSquares(residuals(point));
  }

  /** Returns the residuals to minimize: those of the predictions, and the preferences. */
  double[] all(double[] point) {
    double[] all = residuals(point, PREFERENCES);
    addPreferences(point, all, all.length - PREFERENCES);
    return all;
  }

  double cost(double[] point) {
    return sumOfSquares(all(point));
  }

  /**
   * Adds the preferences among equally good explanations: the cards take equal times; time that may
   * belong to a card or to the latency counts as latency; and there is no additional time per byte
   * unless it is needed.
   */
  private void addPreferences(double[] point, double[] rows, int from) {
    double small = Math.log(SMALL_NANOS);
    rows[from] = PREFERENCE_WEIGHT * (point[sending] - point[receiving]);
    rows[from + 1] = PREFERENCE_WEIGHT * (point[sending] - small) / 4;
    rows[from + 2] = PREFERENCE_WEIGHT * (point[receiving] - small) / 4;
    rows[from + 3] = PREFERENCE_WEIGHT * (point[alone] - Math.log(SMALL_NANOS_PER_BYTE)) / 4;
  }

  /** Returns the Jacobian: one row for each residual, one column for each free parameter. */
  static double[][] jacobian(double[] point, UnaryOperator<double[]> residuals) {
    double[][] rows = new double[residuals.apply(point).length][point.length];
    for (int i = 0; i < point.length; i++) {
      double[] moved = point.clone();
      moved[i] = point[i] + DIFFERENCE;
      double[] above = residuals.apply(moved);
      moved[i] = point[i] - DIFFERENCE;
      double[] below = residuals.apply(moved);
      for (int row = 0; row < rows.length; row++) {
        rows[row][i] = (above[row] - below[row]) / (2 * DIFFERENCE);
      }
    }
    return rows;
  }

  private static double sumOfSquares(double[] values) {
    return Arrays.stream(values).map(value -> value * value).sum();
  }
}
