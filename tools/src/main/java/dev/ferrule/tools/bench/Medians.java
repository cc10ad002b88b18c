// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.Arrays;
import java.util.Collection;
import java.util.OptionalDouble;

/** Medians of measured values, which single outliers do not affect. */
public final class Medians {

  private static final int GROUP = 16;

  private Medians() {}

  /**
   * {@return the median of consecutive times; 0 if there are none. The clock may tick in steps of
   * 10 ns or more, so this is the median of the means of 16 consecutive times}
   *
   * @param periods the times
   * @param count the number of valid times, from index 0
   */
  public static double ofPeriods(long[] periods, int count) {
    int groups = count / GROUP;
    if (groups == 0) {
      return Arrays.stream(periods, 0, count).average().orElse(0);
    }
    long[] sums = new long[groups];
    for (int i = 0; i < groups * GROUP; i++) {
      sums[i / GROUP] += periods[i];
    }
    Arrays.sort(sums);
    return (sums[(groups - 1) / 2] + sums[groups / 2]) / (2.0 * GROUP);
  }

  /**
   * {@return the median of values in any order; empty if there are none}
   *
   * @param values the values
   */
  public static OptionalDouble of(Collection<Double> values) {
    if (values.isEmpty()) {
      return OptionalDouble.empty();
    }
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    return OptionalDouble.of((sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2.0);
  }

  /**
   * {@return the quotient of two medians; empty if either is missing, or the divisor is not
   * positive. Every ratio in the results is such a quotient}
   *
   * @param dividend the dividend
   * @param divisor the divisor
   */
  public static OptionalDouble ratio(OptionalDouble dividend, OptionalDouble divisor) {
    return dividend.isPresent() && divisor.orElse(0) > 0
        ? OptionalDouble.of(dividend.getAsDouble() / divisor.getAsDouble())
        : OptionalDouble.empty();
  }
}
