// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import java.util.OptionalDouble;

/**
 * An estimate of a parameter.
 *
 * @param value its value, in its unit; where only bounds are known, a value within them
 * @param standardError the standard error of the value; empty if unknown
 * @param low the lower end of the 95 % interval; empty if unknown
 * @param high the upper end; empty if unknown
 * @param note a remark, or empty
 */
public record Estimate(
    Parameter parameter,
    double value,
    OptionalDouble standardError,
    OptionalDouble low,
    OptionalDouble high,
    Source source,
    String note) {

  public enum Source {
    /** The call was timed. */
    MEASURED,
    /** It explains the measurements best. */
    FITTED,
    /**
     * Only its combination with other parameters is determined; its share is a choice of the fit.
     */
    TOGETHER,
    /** The measurements do not depend on it by more than their noise. */
    UNDETERMINED,
    /**
     * Any value up to {@link Estimate#high} explains the measurements: they depend on it not at
     * all, or by no more than their noise.
     */
    AT_MOST,
    /** Any value from {@link Estimate#low} upwards explains them, for the same reason. */
    AT_LEAST,
    /** Entered by the user. */
    GIVEN
  }

  /** Returns a value without a confidence interval. */
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
