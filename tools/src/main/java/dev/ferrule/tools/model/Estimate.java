// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.model;

import java.util.OptionalDouble;

/**
 * What is known of a parameter.
 *
 * @param parameter which
 * @param value its value, in its unit; where only bounds are known, one within them
 * @param standardError by how much that is off, typically; empty if nobody can say
 * @param low the lower end of what it is with a probability of 95 %; empty if that is not known
 * @param high the upper end; likewise
 * @param source where the value is from
 * @param note what else there is to say, or nothing
 */
public record Estimate(
    Parameter parameter,
    double value,
    OptionalDouble standardError,
    OptionalDouble low,
    OptionalDouble high,
    Source source,
    String note) {

  /** Where a value is from. */
  public enum Source {
    /** The call was timed. */
    MEASURED,
    /** It is what explains the measurements best. */
    FITTED,
    /** Only what it makes together with others is known; its share of that was chosen. */
    TOGETHER,
    /** No measurement depends on it, as long as it is no more than {@link Estimate#high}. */
    AT_MOST,
    /** No measurement depends on it, as long as it is no less than {@link Estimate#low}. */
    AT_LEAST,
    /** Somebody has said so. */
    GIVEN
  }

  /**
   * A value without a confidence.
   *
   * @param parameter which
   * @param value its value
   * @param source where it is from
   * @param note what else there is to say, or nothing
   * @return the estimate
   */
  public static Estimate bare(Parameter parameter, double value, Source source, String note) {
    return new Estimate(
        parameter,
        value,
        OptionalDouble.empty(),
        OptionalDouble.empty(),
        OptionalDouble.empty(),
        source,
        note);
  }
}
