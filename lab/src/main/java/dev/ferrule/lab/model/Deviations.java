// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.hipparchus.distribution.continuous.FDistribution;
import org.hipparchus.linear.MatrixUtils;
import org.hipparchus.linear.RealMatrix;

/**
 * The deviations of a fit's predictions, compared with those that the noise would leave.
 *
 * <p>A fit absorbs a part of the noise, and spreads the noise of one experiment over the
 * predictions for the others. To first order it is a projection: with the Jacobian's column space
 * {@code U}, the part {@code R = 1 - U Uᵀ} of the noise remains. Its covariance is {@code R N Rᵀ},
 * where {@code N} is the diagonal matrix of the points' variances. The ratio of the sum of squares
 * in one experiment to its expected value has approximately an F distribution, with the degrees of
 * freedom of Welch and Satterthwaite.
 */
final class Deviations {

  private static final double CONFIDENCE = 0.95;

  /**
   * The ratio of the variance of the median of many normally distributed values to that of their
   * mean.
   */
  private static final double MEDIAN = Math.PI / 2;

  /** An experiment with fewer degrees of freedom is not compared. */
  private static final double LEAST_FREEDOM = 0.5;

  private final List<LackOfFit.Point> points;
  private final Map<String, List<Integer>> rows = new LinkedHashMap<>(); // by experiment
  private final Map<String, Noise> noise = new LinkedHashMap<>();
  private final double[] residuals;
  private final RealMatrix left;

  /**
   * The noise of a single round.
   *
   * @param freedom the degrees of freedom of the variance
   */
  private record Noise(double variance, int freedom) {}

  Deviations(List<LackOfFit.Point> points, FitResult fit) {
    this.points = points;
    for (int i = 0; i < points.size(); i++) {
      rows.computeIfAbsent(points.get(i).experiment(), key -> new ArrayList<>()).add(i);
    }
    Noise all = noise(points);
    rows.forEach((experiment, indices) -> {
      Noise own = noise(indices.stream().map(points::get).toList());
      noise.put(experiment, own.freedom() == 0 ? all : own);
    });
    FitProblem problem =
        FitProblem.of(points.stream().map(LackOfFit.Point::observation).toList(), fit);
    double[] best = problem.pointOf(fit.model());
    residuals = problem.residuals(best);
    left = left(Identifiability.directions(problem, best));
  }

  /**
   * Returns the matrix {@code R} that maps the noise to the deviations that remain after the fit.
   */
  private RealMatrix left(List<RealMatrix> directions) {
    RealMatrix rest = MatrixUtils.createRealIdentityMatrix(points.size());
    for (RealMatrix direction : directions) {
      rest = rest.subtract(direction.multiplyTransposed(direction));
    }
    return rest;
  }

  /** Returns the comparison of each experiment whose deviations the fit does not absorb. */
  List<LackOfFit.Part> parts() {
    List<LackOfFit.Part> parts = new ArrayList<>();
    rows.forEach((experiment, indices) -> {
      double freedom = indices.stream().mapToDouble(i -> left.getEntry(i, i)).sum();
      if (freedom >= LEAST_FREEDOM) {
        parts.add(part(experiment, indices.stream().mapToInt(i -> i).toArray()));
      }
    });
    return parts;
  }

  private LackOfFit.Part part(String experiment, int[] indices) {
    double expected = 0;
    double uncertain = 0;
    for (Map.Entry<String, List<Integer>> other : rows.entrySet()) {
      double share = 0;
      for (int i : indices) {
        for (int k : other.getValue()) {
          share += Math.pow(left.getEntry(i, k), 2) * variance(k);
        }
      }
      expected += share;
      uncertain += share * share / Objects.requireNonNull(noise.get(other.getKey())).freedom();
    }
    double spread = 0;
    for (int i : indices) {
      for (int j : indices) {
        spread += Math.pow(covariance(i, j), 2);
      }
    }
    double limit =
        expected
            * new FDistribution(expected * expected / spread, expected * expected / uncertain)
                .inverseCumulativeProbability(1 - (1 - CONFIDENCE) / rows.size());
    double squares = Arrays.stream(indices).mapToDouble(i -> residuals[i] * residuals[i]).sum();
    return new LackOfFit.Part(
        experiment, factor(squares, indices.length), factor(limit, indices.length));
  }

  private static double factor(double squares, int count) {
    return Math.exp(Math.sqrt(squares / count));
  }

  /** Returns the covariance, due to the noise, of the deviations of two points after the fit. */
  private double covariance(int i, int j) {
    double sum = 0;
    for (int k = 0; k < points.size(); k++) {
      sum += left.getEntry(i, k) * variance(k) * left.getEntry(j, k);
    }
    return sum;
  }

  /** Returns an upper bound of the variance of the median of a point's rounds. */
  private double variance(int index) {
    LackOfFit.Point point = points.get(index);
    int rounds = point.rounds().size();
    return Objects.requireNonNull(noise.get(point.experiment())).variance()
        * (rounds > 2 ? MEDIAN : 1)
        / rounds;
  }

  private static Noise noise(List<LackOfFit.Point> some) {
    int freedom = some.stream().mapToInt(point -> point.rounds().size() - 1).sum();
    double squares = some.stream().mapToDouble(point -> squares(point.rounds())).sum();
    double least = Identifiability.LEAST_DEVIATION * Identifiability.LEAST_DEVIATION;
    return new Noise(freedom == 0 ? least : Math.max(least, squares / freedom), freedom);
  }

  /** Returns the sum of the squared deviations of the logarithms from their mean. */
  private static double squares(List<Double> values) {
    double mean = values.stream().mapToDouble(Math::log).average().orElseThrow();
    return values.stream().mapToDouble(value -> Math.pow(Math.log(value) - mean, 2)).sum();
  }
}
