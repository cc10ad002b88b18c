// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

/**
 * One measurement for a model to explain.
 *
 * @param nanos half the round trip, or the time from one message of a stream to the next
 */
public record Observation(Kind kind, Load load, double nanos) {

  public enum Kind {
    /** Half the round trip, with one message in flight. */
    LATENCY,
    /** The time from one message of a stream to the next. */
    PERIOD
  }

  /** Rejects values without a logarithm. */
  public Observation {
    if (!(nanos > 0) || Double.isInfinite(nanos)) {
      throw new IllegalArgumentException(
          "a measurement must be positive and finite, not " + nanos + " ns");
    }
  }

  public double predictedBy(PerformanceModel model) {
    return kind == Kind.LATENCY ? model.latencyNanos(load.sizeBytes()) : model.periodNanos(load);
  }
}
