// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.hipparchus.exception.MathRuntimeException;
import org.hipparchus.linear.Array2DRowRealMatrix;
import org.hipparchus.linear.ArrayRealVector;
import org.hipparchus.linear.RealMatrix;
import org.hipparchus.linear.RealVector;
import org.hipparchus.optim.nonlinear.vector.leastsquares.LeastSquaresBuilder;
import org.hipparchus.optim.nonlinear.vector.leastsquares.LevenbergMarquardtOptimizer;
import org.hipparchus.util.Pair;

/**
 * Finds the parameters that explain measurements best, by least squares.
 *
 * <p>What is squared are the logarithms of predicted over measured, so that 10 % count the same for
 * 100 ns as for 1 ms. The parameters' logarithms are what is searched, so that none gets negative.
 * The slowest stage alone sets the pace, and a stage that is not the slowest leaves no trace in the
 * measurements; so the search starts several times, each time with another stage in the lead.
 */
public final class Fit {

  private static final int MAX_EVALUATIONS = 300;
  private static final double DIFFERENCE = 1e-5;

  /** Below this a parameter is as good as 0. */
  private static final double LEAST_LOG = Math.log(1e-4);

  private static final double MOST_LOG = Math.log(1e10);

  /**
   * How much a wish counts beside a measurement: just enough to choose among what fits equally
   * well.
   */
  private static final double WISH = 2e-3;

  /** What a card is wished to take if all that is known is a sum with L in it. */
  private static final double SMALL_NANOS = 1;

  /** A timed call may be slower than a stream by so much before we see that it is another thing. */
  private static final double SLACK = 1.05;

  private final List<Observation> observations;
  private final boolean acknowledged;
  private final Map<Parameter, Estimate> fixed = new EnumMap<>(Parameter.class);
  private final List<Parameter> free = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();

  private Fit(List<Observation> observations, List<TimedCall> calls, boolean acknowledged) {
    this.observations = List.copyOf(observations);
    this.acknowledged = acknowledged;
    takeCalls(calls);
    Set<Parameter> wanted = EnumSet.allOf(Parameter.class);
    if (observations.stream().noneMatch(observation -> observation.load().batch() > 1)) {
      wanted.remove(Parameter.DOORBELL);
    }
    wanted.removeAll(fixed.keySet());
    free.addAll(wanted);
  }

  /**
   * Finds the parameters.
   *
   * @param observations what was measured, of several sizes
   * @param calls the parameters that were measured by themselves
   * @param acknowledged see {@link PerformanceModel}
   * @return the parameters; empty if there are too few measurements to say anything
   */
  public static Optional<FitResult> of(
      List<Observation> observations, List<TimedCall> calls, boolean acknowledged) {
    long sizes =
        observations.stream()
            .filter(observation -> observation.kind() == Observation.Kind.LATENCY)
            .mapToInt(observation -> observation.load().sizeBytes())
            .distinct()
            .count();
    boolean streams =
        observations.stream()
            .anyMatch(observation -> observation.kind() == Observation.Kind.PERIOD);
    return sizes < 2 || !streams
        ? Optional.empty()
        : new Fit(observations, calls, acknowledged).search();
  }

  /**
   * A call that is timed by itself finds its caches cold, and gets one message where a stream gets
   * many. Where a stream is faster than the calls would allow, they are not what limits it.
   */
  private void takeCalls(List<TimedCall> calls) {
    calls.stream()
        .filter(call -> call.mean() > 0)
        .forEach(call -> fixed.put(call.parameter(), call.estimate()));
    double single = fastest(observation -> observation.load().batch() == 1);
    double any = fastest(observation -> true);
    leaveToFit(
        Parameter.SEND_OVERHEAD,
        value(Parameter.SEND_OVERHEAD) > single * SLACK,
        "messages went out every " + whole(single) + " ns");
    leaveToFit(
        Parameter.RECEIVE_OVERHEAD,
        value(Parameter.RECEIVE_OVERHEAD) + value(Parameter.RECEIVE_GAP) > any * SLACK,
        "messages came in every " + whole(any) + " ns");
    leaveToFit(
        Parameter.RECEIVE_GAP,
        value(Parameter.RECEIVE_GAP) > any * SLACK,
        "messages came in every " + whole(any) + " ns");
    double shortest =
        observations.stream()
            .filter(observation -> observation.kind() == Observation.Kind.LATENCY)
            .mapToDouble(Observation::nanos)
            .min()
            .orElse(Double.MAX_VALUE);
    leaveToFit(
        Parameter.RECEIVE_OVERHEAD,
        value(Parameter.SEND_OVERHEAD) + value(Parameter.RECEIVE_OVERHEAD) > shortest,
        "a message takes " + whole(shortest) + " ns in all");
  }

  private void leaveToFit(Parameter parameter, boolean contradicted, String why) {
    if (contradicted && fixed.containsKey(parameter)) {
      double timed = fixed.remove(parameter).value();
      notes.add(
          parameter.symbol()
              + ": the call by itself takes "
              + whole(timed)
              + " ns, but "
              + why
              + "; so it was fitted instead");
    }
  }

  private static String whole(double nanos) {
    return String.valueOf(Math.round(nanos));
  }

  private double value(Parameter parameter) {
    Estimate estimate = fixed.get(parameter);
    return estimate == null ? 0 : estimate.value();
  }

  private double fastest(Predicate<Observation> which) {
    return observations.stream()
        .filter(observation -> observation.kind() == Observation.Kind.PERIOD)
        .filter(which)
        .mapToDouble(Observation::nanos)
        .min()
        .orElse(Double.MAX_VALUE);
  }

  private Optional<FitResult> search() {
    return starts().stream()
        .map(this::descend)
        .min(Comparator.comparingDouble(this::cost))
        .map(
            best ->
                new FitReading(
                        observations.size(), free, fixed, notes, this::residuals, this::model)
                    .read(best));
  }

  /**
   * One start for each stage that may be the slowest for messages one by one, with each that may be
   * for batches.
   */
  private List<double[]> starts() {
    double latency =
        observations.stream()
            .filter(observation -> observation.kind() == Observation.Kind.LATENCY)
            .mapToDouble(Observation::nanos)
            .min()
            .orElseThrow();
    double batched = fastest(observation -> true);
    double single = Math.min(latency, fastest(observation -> observation.load().batch() == 1));
    List<double[]> starts = new ArrayList<>();
    for (Parameter first :
        List.of(
            Parameter.SEND_GAP,
            Parameter.SEND_OVERHEAD,
            Parameter.SEND_NIC,
            Parameter.RECEIVE_NIC,
            Parameter.RECEIVE_OVERHEAD,
            Parameter.RECEIVE_GAP)) {
      for (Parameter second :
          List.of(Parameter.SEND_GAP, Parameter.RECEIVE_NIC, Parameter.RECEIVE_OVERHEAD)) {
        for (Observation.Kind kind : Observation.Kind.values()) {
          Map<Parameter, Double> start = new EnumMap<>(Parameter.class);
          for (Parameter parameter : free) {
            start.put(parameter, Math.max(0.1, batched / 10));
          }
          start.put(Parameter.LATENCY, latency / 2);
          start.put(Parameter.BYTE_GAP, slope(kind));
          start.put(second, batched);
          start.put(first, single);
          start.put(Parameter.DOORBELL, Math.max(0.1, single - batched));
          starts.add(
              free.stream().mapToDouble(parameter -> Math.log(start.get(parameter))).toArray());
        }
      }
    }
    return starts;
  }

  /** How much longer a byte more takes, between the shortest and the longest message. */
  private double slope(Observation.Kind kind) {
    List<Observation> some =
        observations.stream()
            .filter(observation -> observation.kind() == kind)
            .sorted(
                Comparator.comparingInt((Observation observation) -> observation.load().sizeBytes())
                    .thenComparingDouble(Observation::nanos))
            .toList();
    Observation first = some.get(0);
    Observation last = some.get(some.size() - 1);
    double bytes = last.load().sizeBytes() - (double) first.load().sizeBytes();
    return Math.max(1e-3, bytes == 0 ? 0 : (last.nanos() - first.nanos()) / bytes);
  }

  private double[] descend(double[] start) {
    Descent descent = new Descent(start);
    try {
      new LevenbergMarquardtOptimizer()
          .optimize(
              new LeastSquaresBuilder()
                  .model(descent::valueAndJacobian)
                  .target(new double[observations.size() + wishes(start).length])
                  .start(start)
                  .parameterValidator(Fit::withinReason)
                  .lazyEvaluation(false)
                  .maxEvaluations(MAX_EVALUATIONS)
                  .maxIterations(MAX_EVALUATIONS)
                  .build());
    } catch (MathRuntimeException e) {
      // it could not get any further, which is no less of an end
    }
    return descent.best;
  }

  /** One search; remembers the best point that it has come by. */
  private final class Descent {
    private double[] best;
    private double least;

    private Descent(double[] start) {
      best = start;
      least = cost(start);
    }

    private Pair<RealVector, RealMatrix> valueAndJacobian(RealVector point) {
      double[] here = point.toArray();
      double cost = cost(here);
      if (cost < least) {
        least = cost;
        best = here;
      }
      return new Pair<>(
          new ArrayRealVector(all(here)), new Array2DRowRealMatrix(jacobian(here, Fit.this::all)));
    }
  }

  private static RealVector withinReason(RealVector point) {
    return point.map(value -> Math.clamp(value, LEAST_LOG, MOST_LOG));
  }

  private double cost(double[] point) {
    return Arrays.stream(all(point)).map(residual -> residual * residual).sum();
  }

  /** One row for each residual, one column for each free parameter. */
  static double[][] jacobian(double[] point, Function<double[], double[]> residuals) {
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

  private PerformanceModel model(double[] point) {
    Map<Parameter, Double> values = new EnumMap<>(Parameter.class);
    fixed.forEach((parameter, estimate) -> values.put(parameter, estimate.value()));
    for (int i = 0; i < point.length; i++) {
      values.put(free.get(i), Math.exp(point[i]));
    }
    return new PerformanceModel(values, acknowledged);
  }

  /** How far off the predictions are. */
  private double[] residuals(double[] point) {
    PerformanceModel model = model(point);
    return observations.stream()
        .mapToDouble(observation -> Math.log(observation.predictedBy(model) / observation.nanos()))
        .toArray();
  }

  private double[] all(double[] point) {
    double[] measured = residuals(point);
    double[] wished = wishes(point);
    double[] all = Arrays.copyOf(measured, measured.length + wished.length);
    System.arraycopy(wished, 0, all, measured.length, wished.length);
    return all;
  }

  /**
   * Among equally good explanations: both cards alike, and what no card has to take is the way's.
   */
  private double[] wishes(double[] point) {
    int sending = free.indexOf(Parameter.SEND_NIC);
    int receiving = free.indexOf(Parameter.RECEIVE_NIC);
    double small = Math.log(SMALL_NANOS);
    return new double[] {
      WISH * (point[sending] - point[receiving]),
      WISH * (point[sending] - small) / 4,
      WISH * (point[receiving] - small) / 4
    };
  }
}
