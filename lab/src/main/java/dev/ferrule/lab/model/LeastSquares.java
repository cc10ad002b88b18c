// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import org.hipparchus.exception.MathRuntimeException;
import org.hipparchus.linear.Array2DRowRealMatrix;
import org.hipparchus.linear.ArrayRealVector;
import org.hipparchus.linear.RealMatrix;
import org.hipparchus.linear.RealVector;
import org.hipparchus.optim.nonlinear.vector.leastsquares.LeastSquaresBuilder;
import org.hipparchus.optim.nonlinear.vector.leastsquares.LevenbergMarquardtOptimizer;
import org.hipparchus.util.Pair;

/** One least-squares search, downhill from a starting point. */
final class LeastSquares {

  /** Above this logarithm a parameter is unbounded. */
  static final double MOST_LOG = Math.log(1e10);

  /** Below this logarithm a parameter is practically 0. */
  static final double LEAST_LOG = Math.log(1e-4);

  private static final int MAX_EVALUATIONS = 300;

  /** Far below the accuracy of any measurement. */
  private static final double CLOSE_ENOUGH = 1e-6;

  private static final int NONE = -1;

  private final FitProblem problem;
  private final int held;
  private double[] best;
  private double least;

  private LeastSquares(FitProblem problem, double[] start, int held) {
    this.problem = problem;
    this.held = held;
    best = start;
    least = problem.cost(start);
  }

  /** Returns the best point that a search from {@code start} passes. */
  static double[] from(double[] start, FitProblem problem) {
    return new LeastSquares(problem, start, NONE).run(start);
  }

  /** Returns the best point of a search that holds one parameter constant. */
  static double[] from(double[] start, FitProblem problem, int held) {
    return new LeastSquares(problem, start, held).run(start);
  }

  private double[] run(double[] start) {
    try {
      new LevenbergMarquardtOptimizer()
          .withCostRelativeTolerance(CLOSE_ENOUGH)
          .withParameterRelativeTolerance(CLOSE_ENOUGH)
          .optimize(
              new LeastSquaresBuilder()
                  .model(this::valueAndJacobian)
                  .target(new double[problem.all(start).length])
                  .start(start)
                  .parameterValidator(point -> withinLimits(point, start))
                  .lazyEvaluation(false)
                  .maxEvaluations(MAX_EVALUATIONS)
                  .maxIterations(MAX_EVALUATIONS)
                  .build());
    } catch (MathRuntimeException e) {
      // no further progress: the search has ended
    }
    return best;
  }

  private Pair<RealVector, RealMatrix> valueAndJacobian(RealVector point) {
    double[] here = point.toArray();
    double cost = problem.cost(here);
    if (cost < least) {
      least = cost;
      best = here;
    }
    RealMatrix jacobian = new Array2DRowRealMatrix(FitProblem.jacobian(here, problem::all), false);
    if (held != NONE) {
      jacobian.setColumn(held, new double[jacobian.getRowDimension()]);
    }
    return new Pair<>(new ArrayRealVector(problem.all(here), false), jacobian);
  }

  private RealVector withinLimits(RealVector point, double[] start) {
    RealVector within = point.map(value -> Math.clamp(value, LEAST_LOG, MOST_LOG));
    if (held != NONE) {
      within.setEntry(held, start[held]);
    }
    return within;
  }
}
