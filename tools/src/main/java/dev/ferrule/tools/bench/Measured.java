// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

/**
 * What was measured until the clock ended it.
 *
 * @param messages the number of messages, on all connections together, or of accesses
 * @param nanos the time for their rate
 * @param spentNanos the time that counts towards the duration that the user has chosen
 */
record Measured(long messages, long nanos, long spentNanos) {

  static final Measured NOTHING = new Measured(0, 0, 0);

  Measured(long messages, long nanos) {
    this(messages, nanos, nanos);
  }

  Measured plus(Measured other) {
    return new Measured(
        messages + other.messages, nanos + other.nanos, spentNanos + other.spentNanos);
  }

  double perSecond() {
    return messages * 1e9 / Math.max(1, nanos);
  }
}
