// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.competitor;

import java.util.OptionalDouble;

/**
 * The result of one measurement.
 *
 * @param value the median in nanoseconds, or messages per second
 * @param p99Nanos the 99th percentile in nanoseconds; empty for rates, and if the program does not
 *     report it
 */
public record Outcome(double value, OptionalDouble p99Nanos) {

  /** Returns the result of a measurement of a rate. */
  static Outcome rate(double messagesPerSecond) {
    return new Outcome(messagesPerSecond, OptionalDouble.empty());
  }
}
