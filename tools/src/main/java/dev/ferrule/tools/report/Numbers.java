// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;

/** Formats numbers with three significant digits and a prefix of the unit. */
public final class Numbers {

  private static final MathContext DIGITS = new MathContext(3);
  private static final double THOUSAND = 1000;
  private static final double MAX_IN_PERCENT = 2;
  private static final double KIBI = 1024;

  private Numbers() {}

  /**
   * {@return a number with k, M or G for powers of 1000, such as {@code 1.25 M}}
   *
   * @param value the number
   */
  public static String scaled(double value) {
    return scaled(value, THOUSAND, "", " k", " M", " G", " T");
  }

  /**
   * {@return a rate per second, such as {@code 1.25 M/s}}
   *
   * @param value the rate
   */
  public static String rate(double value) {
    return scaled(value, THOUSAND, " /s", " k/s", " M/s", " G/s", " T/s");
  }

  /**
   * {@return a throughput, such as {@code 1.25 GB/s}}
   *
   * @param value the throughput
   */
  public static String byteRate(double value) {
    return scaled(value, THOUSAND, " B/s", " kB/s", " MB/s", " GB/s", " TB/s");
  }

  /**
   * {@return a number of bytes, such as {@code 64 KiB}}
   *
   * @param value the number
   */
  public static String bytes(double value) {
    return scaled(value, KIBI, " B", " KiB", " MiB", " GiB", " TiB");
  }

  /**
   * {@return a duration, such as {@code 1.9 µs}}
   *
   * @param value nanoseconds
   */
  public static String nanos(double value) {
    return scaled(value, THOUSAND, " ns", " µs", " ms", " s");
  }

  /**
   * {@return a number with three significant digits and without an exponent, such as {@code
   * 0.0803}}
   *
   * @param value the number
   */
  public static String plain(double value) {
    if (!Double.isFinite(value)) {
      return "–";
    }
    BigDecimal rounded = new BigDecimal(value).round(DIGITS);
    return rounded.signum() == 0 ? "0" : rounded.stripTrailingZeros().toPlainString();
  }

  /**
   * {@return the error of a prediction, such as {@code +12 %}, or {@code 3.4 times} if it is more
   * than 2}
   *
   * @param ratio the ratio of the predicted value to the measured one
   */
  public static String error(double ratio) {
    if (ratio > MAX_IN_PERCENT || ratio < 1 / MAX_IN_PERCENT) {
      return plain(ratio) + " times";
    }
    return String.format(Locale.ROOT, "%+.0f %%", (ratio - 1) * 100);
  }

  private static String scaled(double value, double step, String... units) {
    double left = value;
    int unit = 0;
    // 999.6 has the three digits of 1000, which is 1 of the next unit
    while (Math.abs(left) >= step - 0.5 && unit < units.length - 1) {
      left /= step;
      unit++;
    }
    return plain(left) + units[unit];
  }
}
