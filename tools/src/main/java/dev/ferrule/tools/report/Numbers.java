// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;

/** Numbers for people: to three digits, with the unit's prefix. */
public final class Numbers {

  private static final MathContext DIGITS = new MathContext(3);
  private static final double THOUSAND = 1000;
  private static final double KIBI = 1024;

  private Numbers() {}

  /**
   * Writes a number with k, M or G for thousands.
   *
   * @param value the number
   * @return such as {@code 1.25 M}
   */
  public static String scaled(double value) {
    return scaled(value, THOUSAND, "", " k", " M", " G", " T");
  }

  /**
   * Writes a number of bytes.
   *
   * @param value how many
   * @return such as {@code 64 KiB}
   */
  public static String bytes(double value) {
    return scaled(value, KIBI, " B", " KiB", " MiB", " GiB", " TiB");
  }

  /**
   * Writes a length of time.
   *
   * @param value nanoseconds
   * @return such as {@code 1.9 µs}
   */
  public static String nanos(double value) {
    return scaled(value, THOUSAND, " ns", " µs", " ms", " s");
  }

  /**
   * Writes a number to three digits, without an exponent.
   *
   * @param value the number
   * @return such as {@code 0.0803}
   */
  public static String plain(double value) {
    if (!Double.isFinite(value)) {
      return "–";
    }
    BigDecimal rounded = new BigDecimal(value).round(DIGITS);
    return rounded.signum() == 0 ? "0" : rounded.stripTrailingZeros().toPlainString();
  }

  /**
   * Writes how far a prediction is off.
   *
   * @param ratio the predicted value over the measured one
   * @return such as {@code +12 %}
   */
  public static String error(double ratio) {
    return String.format(Locale.ROOT, "%+.0f %%", (ratio - 1) * 100);
  }

  private static String scaled(double value, double step, String... units) {
    double left = value;
    int unit = 0;
    // 999.6 is 1000 to three digits, and 1 of the next unit
    while (Math.abs(left) >= step - 0.5 && unit < units.length - 1) {
      left /= step;
      unit++;
    }
    return plain(left) + units[unit];
  }
}
