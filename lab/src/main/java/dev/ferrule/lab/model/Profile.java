// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

/**
 * The profile likelihood of a fit: the range of each parameter in which the predictions, with all
 * other parameters refitted, are no worse than noise explains. The model's stages can replace each
 * other, so the curvature at the best point says little about points further away.
 */
final class Profile {

  private static final double FIRST_STEP = 0.02;
  private static final int HALVINGS = 5;

  private final FitProblem problem;
  private final double[] best;
  private final double limit;

  /**
   * Creates a profile around the best point of a fit; the sum of squares may exceed that of the
   * best point by the square of {@code worse}, which is the deviation of one more measurement, as a
   * logarithm.
   */
  Profile(FitProblem problem, double[] best, double worse) {
    this.problem = problem;
    this.best = best;
    this.limit = problem.squares(best) + worse * worse;
  }

  /**
   * Returns the logarithm of a parameter's upper bound; {@link LeastSquares#MOST_LOG} if unbounded.
   */
  double most(int index) {
    return end(index, 1, LeastSquares.MOST_LOG);
  }

  /**
   * Returns the logarithm of a parameter's lower bound; {@link LeastSquares#LEAST_LOG} if it may be
   * 0.
   */
  double least(int index) {
    return end(index, -1, LeastSquares.LEAST_LOG);
  }

  private double end(int index, int sign, double last) {
    double[] inside = best;
    double step = FIRST_STEP;
    boolean ended = false;
    for (int halvings = 0; halvings < HALVINGS; step = ended ? step / 2 : step * 2) {
      double[] start = inside.clone();
      boolean toTheLast = sign * (last - inside[index]) <= step;
      // set exactly: a sum of steps would miss it
      start[index] = toTheLast ? last : inside[index] + sign * step;
      double[] further = LeastSquares.from(start, problem, index);
      if (problem.squares(further) <= limit) {
        inside = further;
        if (toTheLast) {
          return last;
        }
      } else {
        ended = true;
      }
      halvings += ended ? 1 : 0;
    }
    return inside[index];
  }
}
