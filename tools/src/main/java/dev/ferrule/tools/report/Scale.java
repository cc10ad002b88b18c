// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;

/** Maps the values of a logarithmic axis to positions in a picture. */
final class Scale {

  private static final int MAX_VALUES_AS_TICKS = 14;
  private static final double[] STEPS = {1, 2, 5};
  private static final int MAX_BINARY_TICKS = 10;
  private static final double MARGIN = 1.08;

  private final double low;
  private final double high;
  private final double from;
  private final double to;
  private final List<Double> ticks;

  private Scale(double low, double high, double from, double to, List<Double> ticks) {
    this.low = low;
    this.high = high;
    this.from = from;
    this.to = to;
    this.ticks = ticks;
  }

  /** Returns a scale whose ticks are the values, or round numbers if there are many values. */
  static Scale ofSteps(Axis axis, DoubleStream values, double from, double to) {
    double[] distinct = values.filter(Scale::holds).distinct().sorted().toArray();
    double low = distinct.length == 0 ? 1 : distinct[0];
    double high = distinct.length == 0 ? 1 : distinct[distinct.length - 1];
    if (low == high) {
      low /= 2;
      high *= 2;
    }
    List<Double> ticks =
        distinct.length <= MAX_VALUES_AS_TICKS
            ? DoubleStream.of(distinct).boxed().toList()
            : roundTicks(axis, low, high);
    return new Scale(low, high, from, to, ticks);
  }

  /** Returns a scale with round ticks, and a margin around the values. */
  static Scale ofValues(Axis axis, DoubleStream values, double from, double to) {
    double[] drawn = values.filter(Scale::holds).toArray();
    double least = DoubleStream.of(drawn).min().orElse(1);
    double most = DoubleStream.of(drawn).max().orElse(1);
    // a range of at least a factor of ten, which does not magnify noise
    double missing = Math.sqrt(Math.max(1, 10 / (most / least)));
    double low = least / missing / MARGIN;
    double high = most * missing * MARGIN;
    return new Scale(low, high, from, to, roundTicks(axis, low, high));
  }

  /**
   * Returns round ticks: powers of two for bytes, otherwise powers of ten and, over a short range,
   * their double and fivefold.
   */
  private static List<Double> roundTicks(Axis axis, double low, double high) {
    List<Double> ticks = new ArrayList<>();
    if (axis.unit() == Axis.Unit.BYTES) {
      double doublings = Math.log(high / low) / Math.log(2);
      int step = (int) Math.max(1, Math.ceil(doublings / MAX_BINARY_TICKS));
      for (double tick = 1; tick <= high; tick *= 1L << step) {
        if (tick >= low) {
          ticks.add(tick);
        }
      }
      return ticks;
    }
    double decades = Math.log10(high / low);
    for (int power = (int) Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
      for (double step : STEPS) {
        double tick = step * Math.pow(10, power);
        if (tick >= low && tick <= high && (step == 1 || decades < 3)) {
          ticks.add(tick);
        }
      }
    }
    return ticks;
  }

  /** Returns whether a value has a position on the axis: whether it is positive and finite. */
  static boolean holds(double value) {
    return Double.isFinite(value) && value > 0;
  }

  double place(double value) {
    return from + Math.log(value / low) / Math.log(high / low) * (to - from);
  }

  List<Double> ticks() {
    return ticks;
  }
}
