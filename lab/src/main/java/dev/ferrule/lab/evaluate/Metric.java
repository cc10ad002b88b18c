// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import dev.ferrule.lab.model.Concurrency;
import dev.ferrule.lab.model.PerformanceModel;
import dev.ferrule.tools.report.Numbers;
import java.util.Optional;

/**
 * A quantity that tasks measure.
 *
 * @param name its name in results
 * @param label its name in the report, with the unit
 * @param divisor the name, in results, of the value by which this one is divided; empty for a value
 *     as measured. The quotient is that of the two medians, as a reader would compute it from the
 *     tables.
 */
public record Metric(String name, String label, Kind kind, Optional<String> divisor) {

  /** The dimension of a metric. */
  public enum Kind {
    /** Nanoseconds. */
    NANOS,
    /** Messages per second. */
    MESSAGE_RATE,
    /** Bytes per second. */
    BYTE_RATE,
    /** Anything else. */
    NUMBER
  }

  /** The median of half the round trip. */
  public static final Metric P50 = new Metric("p50_ns", "one-way latency, p50", Kind.NANOS);

  /** The 99th percentile of half the round trip. */
  public static final Metric P99 = new Metric("p99_ns", "one-way latency, p99", Kind.NANOS);

  /** Messages per second. */
  public static final Metric MESSAGES =
      new Metric("messages_per_s", "messages/s", Kind.MESSAGE_RATE);

  /** Bytes per second. */
  public static final Metric BYTES = new Metric("bytes_per_s", "bytes/s", Kind.BYTE_RATE);

  public Metric(String name, String label, Kind kind) {
    this(name, label, kind, Optional.empty());
  }

  private static final double NANOS_PER_SECOND = 1e9;

  public String format(double value) {
    return switch (kind) {
      case NANOS -> Numbers.nanos(value);
      case MESSAGE_RATE -> Numbers.rate(value);
      case BYTE_RATE -> Numbers.byteRate(value);
      case NUMBER -> Numbers.scaled(value);
    };
  }

  /** Returns a model's prediction. */
  double predicted(PerformanceModel model, Concurrency concurrency) {
    int sizeBytes = concurrency.load().sizeBytes();
    return switch (kind) {
      case NANOS -> model.latencyNanos(sizeBytes);
      case MESSAGE_RATE -> NANOS_PER_SECOND / model.periodNanos(concurrency);
      case BYTE_RATE -> NANOS_PER_SECOND / model.periodNanos(concurrency) * sizeBytes;
      case NUMBER -> Double.NaN;
    };
  }
}
