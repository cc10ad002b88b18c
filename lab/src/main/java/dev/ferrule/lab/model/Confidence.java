// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import org.hipparchus.distribution.continuous.TDistribution;

/** The half-width of confidence intervals, in standard errors. */
final class Confidence {

  private static final double UPPER_TAIL = 0.975;

  /** The factor when the error itself is known. */
  static final double NORMAL = 1.96;

  private Confidence() {}

  /**
   * Returns the factor for an interval of 95 % by Student's distribution, with at least one degree
   * of freedom.
   */
  static double factor(int freedom) {
    return new TDistribution(Math.max(1, freedom)).inverseCumulativeProbability(UPPER_TAIL);
  }
}
