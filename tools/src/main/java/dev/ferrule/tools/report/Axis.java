// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

/**
 * One axis of a plot.
 *
 * @param label what it shows, with the unit
 * @param unit how its numbers are written
 * @param logarithmic whether equal steps are equal factors; then there is no room for 0
 */
public record Axis(String label, Unit unit, boolean logarithmic) {

  /** How numbers are written. */
  public enum Unit {
    /** As they are, with k, M and G for thousands. */
    NUMBER,
    /** Messages per second, with k, M and G for thousands. */
    RATE,
    /** Bytes per second, with kB, MB and GB for thousands. */
    BYTE_RATE,
    /** Bytes, with KiB, MiB and GiB. */
    BYTES,
    /** Nanoseconds, with µs, ms and s. */
    NANOS
  }

  /**
   * An axis on which equal steps are equal factors.
   *
   * @param label what it shows, with the unit
   * @param unit how its numbers are written
   * @return the axis
   */
  public static Axis logarithmic(String label, Unit unit) {
    return new Axis(label, unit, true);
  }

  /**
   * Writes a number.
   *
   * @param value the number
   * @return its text, to three digits
   */
  public String format(double value) {
    return switch (unit) {
      case NUMBER -> Numbers.scaled(value);
      case RATE -> Numbers.rate(value);
      case BYTE_RATE -> Numbers.byteRate(value);
      case BYTES -> Numbers.bytes(value);
      case NANOS -> Numbers.nanos(value);
    };
  }
}
