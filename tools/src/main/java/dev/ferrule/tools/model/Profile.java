// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.model;

/**
 * How far each parameter of a fit may be off: as far as predictions get no worse than noise
 * explains when all others are chosen anew for it. The model's stages take each other's place, so
 * that the curvature at the best point says little of what lies further away.
 */
final class Profile {

  private static final double FIRST_STEP = 0.02;
  private static final int HALVINGS = 5;

  private final FitProblem problem;
  private final double[] best;
  private final double limit;

  /**
   * Begins.
   *
   * @param problem what was fitted
   * @param best its best point
   * @param worse how far off one more measurement may be, as a logarithm
   */
  Profile(FitProblem problem, double[] best, double worse) {
    this.problem = problem;
    this.best = best;
    this.limit = problem.squares(best) + worse * worse;
  }

  /** The logarithm of the most that a parameter may be; {@link Descent#MOST_LOG} without bounds. */
  double most(int index) {
    return end(index, 1, Descent.MOST_LOG);
  }

  /** That of the least; {@link Descent#LEAST_LOG} if it may be nothing. */
  double least(int index) {
    return end(index, -1, Descent.LEAST_LOG);
  }

  private double end(int index, int sign, double last) {
    double[] inside = best;
    double step = FIRST_STEP;
    boolean ended = false;
    for (int halvings = 0; halvings < HALVINGS; step = ended ? step / 2 : step * 2) {
      double[] start = inside.clone();
      boolean toTheLast = sign * (last - inside[index]) <= step;
      // exactly, as a sum of steps comes out beside it
      start[index] = toTheLast ? last : inside[index] + sign * step;
      double[] further = Descent.from(start, problem, index);
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
