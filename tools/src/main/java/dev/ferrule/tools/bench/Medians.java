// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.Arrays;
import java.util.Collection;

/** The middle of what was measured, which single outliers do not move. */
final class Medians {

  private Medians() {}

  static double of(long[] values, int count) {
    long[] sorted = Arrays.copyOf(values, count);
    Arrays.sort(sorted);
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2.0;
  }

  static double of(Collection<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2.0;
  }
}
