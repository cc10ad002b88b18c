// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.IntUnaryOperator;

/**
 * A test of whether the bytes beyond one packet take another time each, as in the model of DARE:
 * {@code (B-1)G + (k-B)G'} instead of {@code (k-1)G}, for each MTU {@code B}.
 *
 * <p>The models are compared by Akaike's information criterion, corrected for few measurements
 * (AICc): a further parameter has to improve the fit by more than it would by chance.
 *
 * @param mtu the number of bytes beyond which each takes the other time
 * @param factor the ratio of the time of a byte beyond the MTU to that of one before
 * @param gain the criterion for one time of all bytes minus that for two times; positive if two
 *     times are better
 * @param error the factor by which the fit is off, as a root mean square; 1 is exact
 */
public record SecondSlope(int mtu, double factor, double gain, double error) {

  /** The MTUs of InfiniBand, in bytes. */
  private static final int[] MTUS = {256, 512, 1024, 2048, 4096};

  /** A line through two sizes fits by chance. */
  private static final int LEAST_SIZES = 3;

  /** The number of additional parameters of a second slope: the MTU and the factor. */
  private static final int MORE = 2;

  private static final double GREATEST_FACTOR = 8;
  private static final int STEPS = 16;
  private static final int REFINEMENTS = 12;

  /**
   * The distance from an optimum at which the search for another one starts: a factor of about 7.
   */
  private static final double FAR = 2;

  private static final double GOLDEN = (Math.sqrt(5) - 1) / 2;

  /** At this difference of the criterion, the model with the greater one is very unlikely. */
  private static final double CLEAR = 10;

  /** Fits the model with a second slope; empty if there are too few measurements. */
  public static Optional<SecondSlope> of(List<Observation> observations, FitResult fit) {
    FitProblem one = FitProblem.of(observations, fit);
    double[] best = LeastSquares.from(one.pointOf(fit.model()), one);
    // both models count the same fitted parameters
    int fitted = Identifiability.directions(one, best).size();
    if (observations.size() <= fitted + MORE + 2) {
      return Optional.empty();
    }
    double without = criterion(one, best, fitted);
    List<Search> searches = new ArrayList<>();
    for (int mtu : MTUS) {
      if (sizes(observations, 0, mtu) >= LEAST_SIZES
          && sizes(observations, mtu, Integer.MAX_VALUE) >= LEAST_SIZES) {
        Search search = new Search(one, best, mtu);
        search.run(fitted + MORE);
        searches.add(search);
        // a search from there may find a better fit with one slope, too
        double[] other = LeastSquares.from(search.point, one);
        without = Math.min(without, criterion(one, other, fitted));
      }
    }
    double oneSlope = without;
    return searches.stream()
        .min(Comparator.comparingDouble(search -> search.criterion))
        .map(search -> search.result(oneSlope));
  }

  private static long sizes(List<Observation> observations, int above, int most) {
    return observations.stream()
        .mapToInt(observation -> observation.load().sizeBytes())
        .filter(size -> size > above && size <= most)
        .distinct()
        .count();
  }

  /** Returns the criterion of a fit. The variance of the error counts as a parameter, too. */
  private static double criterion(FitProblem problem, double[] point, int fitted) {
    double count = problem.observations().size();
    double parameters = fitted + 1.0;
    // below the accuracy of any measurement all fits are equal
    double squares = Math.max(problem.squares(point), count * 1e-8);
    return count * Math.log(squares / count)
        + 2 * parameters
        + 2 * parameters * (parameters + 1) / (count - parameters - 1);
  }

  /** The search for the factor of one MTU. */
  private static final class Search {
    private final FitProblem one;
    private final int mtu;
    private double[] point; // where the next search starts
    private double factor = 1;
    private double criterion = Double.MAX_VALUE;
    private double error;

    Search(FitProblem one, double[] start, int mtu) {
      this.one = one;
      this.mtu = mtu;
      this.point = start;
    }

    void run(int fitted) {
      double most = Math.log(GREATEST_FACTOR);
      double step = 2 * most / STEPS;
      double middle = 0;
      double least = Double.MAX_VALUE;
      for (int i = 0; i <= STEPS; i++) {
        double cost = cost(-most + i * step);
        if (cost < least) {
          least = cost;
          middle = -most + i * step;
        }
      }
      double low = Math.max(-most, middle - step);
      double high = Math.min(most, middle + step);
      for (int i = 0; i < REFINEMENTS; i++) {
        double left = high - GOLDEN * (high - low);
        double right = low + GOLDEN * (high - low);
        if (cost(left) < cost(right)) {
          high = right;
        } else {
          low = left;
        }
      }
      double log = (low + high) / 2;
      FitProblem problem = with(log);
      point = fromAround(LeastSquares.from(point, problem), problem);
      factor = Math.exp(log);
      criterion = SecondSlope.criterion(problem, point, fitted);
      error = Math.exp(Math.sqrt(problem.squares(point) / problem.observations().size()));
    }

    SecondSlope result(double criterionOfOne) {
      return new SecondSlope(mtu, factor, criterionOfOne - criterion, error);
    }

    private double cost(double log) {
      FitProblem problem = with(log);
      point = LeastSquares.from(point, problem);
      return problem.cost(point);
    }

    /** Returns the best of the optima near points where one parameter is much smaller or larger. */
    private static double[] fromAround(double[] center, FitProblem problem) {
      double[] best = center;
      for (int i = 0; i < center.length; i++) {
        for (double move : new double[] {-FAR, FAR}) {
          double[] start = best.clone();
          start[i] += move;
          double[] other = LeastSquares.from(start, problem);
          best = problem.cost(other) < problem.cost(best) ? other : best;
        }
      }
      return best;
    }

    /**
     * Returns the problem in which bytes beyond the MTU take another time, by means of longer or
     * shorter messages.
     */
    private FitProblem with(double log) {
      double factor = Math.exp(log);
      IntUnaryOperator size =
          bytes -> bytes <= mtu ? bytes : (int) Math.round(mtu + (bytes - mtu) * factor);
      return one.withSizes(size);
    }
  }

  public String text() {
    String bytes =
        String.format(
            Locale.ROOT,
            "bytes beyond an MTU of %d take %.2f times as long as those before (the best choice;"
                + " AICc %s by %.1f than with one G; predictions are off by a factor of %.2f)",
            mtu,
            factor,
            gain > 0 ? "lower" : "higher",
            Math.abs(gain),
            error);
    if (gain <= -CLEAR) {
      return "a second G for the bytes beyond the MTU is not needed: " + bytes;
    }
    if (gain <= 0) {
      return "the measurements do not require a second G for the bytes beyond the MTU: " + bytes;
    }
    return gain < CLEAR
        ? "a second G for the bytes beyond the MTU may be right: " + bytes
        : "one G for all bytes does not fit: " + bytes;
  }
}
