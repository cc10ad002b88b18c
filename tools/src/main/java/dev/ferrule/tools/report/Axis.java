// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

/**
 * A logarithmic axis of a plot.
 *
 * @param label its quantity, with the unit
 * @param unit the format of its numbers
 * @param zeroAt the value at whose position 0 is drawn, lower than all others; NaN if 0 is not
 *     drawn
 */
public record Axis(String label, Unit unit, double zeroAt) {

  /** The format of numbers. */
  public enum Unit {
    /** Plain numbers, with k, M and G for powers of 1000. */
    NUMBER,

    /** Messages per second, with k, M and G for powers of 1000. */
    RATE,

    /** Bytes per second, with kB, MB and GB for powers of 1000. */
    BYTE_RATE,

    /** Bytes, with KiB, MiB and GiB. */
    BYTES,

    /** Nanoseconds, with µs, ms and s. */
    NANOS
  }

  /**
   * {@return an axis on which 0 is not drawn}
   *
   * @param label its quantity, with the unit
   * @param unit the format of its numbers
   */
  public static Axis logarithmic(String label, Unit unit) {
    return new Axis(label, unit, Double.NaN);
  }

  /**
   * {@return the axis with a position for 0}
   *
   * @param place the value at whose position 0 is drawn
   */
  public Axis withZeroAt(double place) {
    return new Axis(label, unit, place);
  }

  /**
   * {@return a number in the format of the axis, with three digits}
   *
   * @param value the number
   */
  public String format(double value) {
    if (value == zeroAt) {
      return "0";
    }
    return switch (unit) {
      case NUMBER -> Numbers.scaled(value);
      case RATE -> Numbers.rate(value);
      case BYTE_RATE -> Numbers.byteRate(value);
      case BYTES -> Numbers.bytes(value);
      case NANOS -> Numbers.nanos(value);
    };
  }
}
