// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * What a fit is about: measurements, parameters that are known, and those that are to be found. A
 * point is the logarithms of the latter, so that none gets negative.
 */
final class FitProblem {

  private static final double DIFFERENCE = 1e-5;

  /**
   * How much a wish counts beside a measurement: just enough to choose among what fits equally
   * well.
   */
  private static final double WISH = 2e-3;

  /** What a card is wished to take if all that is known is a sum with L in it. */
  private static final double SMALL_NANOS = 1;

  /** What bytes are wished to take more by themselves, if only the sum with G is known. */
  private static final double SMALL_NANOS_PER_BYTE = 1e-4;

  private static final int WISHES = 4;

  /** As good as no time. */
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
   * What holds a parameter near a value that it was measured to have.
   *
   * @param parameter which
   * @param nanos the value
   * @param reachNanos how far off it weighs as much as a measurement that is off by {@code weight}
   * @param weight see there, as a logarithm
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
    this.known = Map.copyOf(known);
    this.free = List.copyOf(free);
    this.pulls = List.copyOf(pulls);
    this.sending = free.indexOf(Parameter.SEND_NIC);
    this.receiving = free.indexOf(Parameter.RECEIVE_NIC);
    this.alone = free.indexOf(Parameter.BYTE_ALONE);
  }

  /**
   * States a problem.
   *
   * @param observations what was measured
   * @param acknowledged see {@link PerformanceModel}
   * @param known the parameters whose values are given
   * @param free those that are to be found, both cards and {@code G_alone} among them
   */
  FitProblem(
      List<Observation> observations,
      boolean acknowledged,
      Map<Parameter, Double> known,
      List<Parameter> free) {
    this(observations, acknowledged, known, free, List.of());
  }

  /**
   * The same without parameters that are quite known: those are to be found as well, near what they
   * were measured to be.
   *
   * @param timed how far off each may be
   * @param weight what counts as much as a parameter that is so far off: a measurement that is off
   *     by so much, as a logarithm
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

  /** A point of the problem that this is the relaxed one of. */
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

  PerformanceModel model(double[] point) {
    Map<Parameter, Double> values = new EnumMap<>(Parameter.class);
    values.putAll(known);
    for (int i = 0; i < point.length; i++) {
      values.put(free.get(i), Math.exp(point[i]));
    }
    return new PerformanceModel(values, acknowledged);
  }

  /** The model with what was read of the best point. */
  PerformanceModel model(Map<Parameter, Estimate> estimates) {
    Map<Parameter, Double> values = new EnumMap<>(Parameter.class);
    estimates.forEach((parameter, estimate) -> values.put(parameter, estimate.value()));
    return new PerformanceModel(values, acknowledged);
  }

  /** How far off the predictions are, as logarithms; and the parameters that were measured. */
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

  /** What is to be made small: how far off the predictions are, and the wishes. */
  double[] all(double[] point) {
    double[] all = residuals(point, WISHES);
    addWishes(point, all, all.length - WISHES);
    return all;
  }

  double cost(double[] point) {
    return sumOfSquares(all(point));
  }

  /**
   * Among equally good explanations: both cards alike, what no card has to take is the way's, and
   * bytes that need not take more by themselves do not.
   */
  private void addWishes(double[] point, double[] rows, int from) {
    double small = Math.log(SMALL_NANOS);
    rows[from] = WISH * (point[sending] - point[receiving]);
    rows[from + 1] = WISH * (point[sending] - small) / 4;
    rows[from + 2] = WISH * (point[receiving] - small) / 4;
    rows[from + 3] = WISH * (point[alone] - Math.log(SMALL_NANOS_PER_BYTE)) / 4;
  }

  /** One row for each residual, one column for each free parameter. */
  static double[][] jacobian(double[] point, UnaryOperator<double[]> residuals) {
    double[][] columns = new double[point.length][];
    for (int i = 0; i < point.length; i++) {
      double[] moved = point.clone();
      moved[i] = point[i] + DIFFERENCE;
      double[] above = residuals.apply(moved);
      moved[i] = point[i] - DIFFERENCE;
      double[] below = residuals.apply(moved);
      columns[i] = new double[above.length];
      for (int row = 0; row < above.length; row++) {
        columns[i][row] = (above[row] - below[row]) / (2 * DIFFERENCE);
      }
    }
    double[][] rows = new double[columns[0].length][point.length];
    for (int i = 0; i < point.length; i++) {
      for (int row = 0; row < rows.length; row++) {
        rows[row][i] = columns[i][row];
      }
    }
    return rows;
  }

  private static double sumOfSquares(double[] values) {
    double sum = 0;
    for (double value : values) {
      sum += value * value;
    }
    return sum;
  }
}
