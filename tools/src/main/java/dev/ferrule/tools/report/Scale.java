// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;

/** Maps the values of an axis to positions in a picture. */
final class Scale {

  private static final int MOST_VALUES_AS_TICKS = 14;
  private static final double[] STEPS = {1, 2, 5};
  private static final int WANTED_TICKS = 5;
  private static final int MOST_BINARY_TICKS = 10;
  private static final double MARGIN = 1.08;

  private final boolean logarithmic;
  private final double low;
  private final double high;
  private final double from;
  private final double to;
  private final List<Double> ticks;

  private Scale(
      boolean logarithmic, double low, double high, double from, double to, List<Double> ticks) {
    this.logarithmic = logarithmic;
    this.low = low;
    this.high = high;
    this.from = from;
    this.to = to;
    this.ticks = ticks;
  }

  /** Returns a scale whose ticks are the values themselves, if they are few. */
  static Scale ofSteps(Axis axis, double[] values, double from, double to) {
    double[] distinct = drawable(axis, values).distinct().sorted().toArray();
    double low = distinct.length == 0 ? 1 : distinct[0];
    double high = distinct.length == 0 ? 1 : distinct[distinct.length - 1];
    if (low == high) {
      low = axis.logarithmic() ? low / 2 : low - 1;
      high = axis.logarithmic() ? high * 2 : high + 1;
    }
    List<Double> ticks =
        distinct.length <= MOST_VALUES_AS_TICKS
            ? DoubleStream.of(distinct).boxed().toList()
            : roundTicks(axis, low, high);
    return new Scale(axis.logarithmic(), low, high, from, to, ticks);
  }

  /** Returns a scale with round ticks, and a margin around the values. */
  static Scale ofValues(Axis axis, double[] values, double from, double to) {
    double low = drawable(axis, values).min().orElse(1);
    double high = drawable(axis, values).max().orElse(1);
    if (axis.logarithmic()) {
      // at least a factor of ten, otherwise noise is magnified
      double missing = Math.sqrt(Math.max(1, 10 / (high / low)));
      low = low / missing / MARGIN;
      high = high * missing * MARGIN;
    } else {
      low = Math.min(0, low);
      high = high <= low ? low + 1 : high * MARGIN;
    }
    return new Scale(axis.logarithmic(), low, high, from, to, roundTicks(axis, low, high));
  }

  private static DoubleStream drawable(Axis axis, double[] values) {
    return DoubleStream.of(values)
        .filter(value -> Double.isFinite(value) && (!axis.logarithmic() || value > 0));
  }

  /** Returns round ticks: powers of two for bytes, else powers of ten. */
  private static List<Double> roundTicks(Axis axis, double low, double high) {
    List<Double> ticks = new ArrayList<>();
    if (axis.logarithmic() && axis.unit() == Axis.Unit.BYTES) {
      double doublings = Math.log(high / low) / Math.log(2);
      int step = (int) Math.max(1, Math.ceil(doublings / MOST_BINARY_TICKS));
      for (double tick = 1; tick <= high; tick *= 1L << step) {
        if (tick >= low) {
          ticks.add(tick);
        }
      }
      return ticks;
    }
    if (axis.logarithmic()) {
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
    double rough = (high - low) / WANTED_TICKS;
    double power = Math.pow(10, Math.floor(Math.log10(rough)));
    double step =
        power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1);
    for (double tick = Math.ceil(low / step) * step; tick <= high; tick += step) {
      ticks.add(tick);
    }
    return ticks;
  }

  boolean holds(double value) {
    return Double.isFinite(value) && (!logarithmic || value > 0);
  }

  double place(double value) {
    double share =
        logarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return from + share * (to - from);
  }

  List<Double> ticks() {
    return ticks;
  }
}
