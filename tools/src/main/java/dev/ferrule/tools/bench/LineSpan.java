// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The range of a bare cache line's latency during a measurement. Within seconds, a hypervisor may
 * migrate a virtual processor to a core behind another cache, after which a message takes several
 * times as long. So rounds of one placement must not be mixed with those of another.
 *
 * @param leastNanos the shortest time, in nanoseconds
 * @param mostNanos the longest
 */
public record LineSpan(double leastNanos, double mostNanos) {

  /**
   * Times of one placement differ by a smaller factor, those of two placements by a larger one.
   * They are about 25 ns on one core, 40 to 65 ns behind one cache, and 150 ns or more otherwise.
   */
  private static final double SAME = 1.5;

  /**
   * {@return the span of several times; empty if there are none, or one is not positive and finite}
   *
   * @param nanos the times
   */
  public static Optional<LineSpan> of(Collection<Double> nanos) {
    if (nanos.isEmpty() || nanos.stream().anyMatch(time -> !(time > 0) || time.isInfinite())) {
      return Optional.empty();
    }
    return Optional.of(
        new LineSpan(
            nanos.stream().mapToDouble(Double::doubleValue).min().orElseThrow(),
            nanos.stream().mapToDouble(Double::doubleValue).max().orElseThrow()));
  }

  /** {@return whether the processors may have stayed in one placement} */
  public boolean isOfOnePlacement() {
    return mostNanos <= SAME * leastNanos;
  }

  /**
   * {@return whether this span is within that of a placement, so that the processors stayed in it}
   *
   * @param place the span of that placement
   */
  public boolean isWithin(LineSpan place) {
    return leastNanos >= place.leastNanos && mostNanos <= place.mostNanos;
  }

  /** {@return the geometric mean of both limits, in nanoseconds} */
  public double middleNanos() {
    return Math.sqrt(leastNanos * mostNanos);
  }

  /**
   * {@return the span of the most frequent placement; empty if there is none}
   *
   * @param spans the spans of several measurements; those with a migration are ignored
   */
  public static Optional<LineSpan> mostFrequent(Collection<LineSpan> spans) {
    List<LineSpan> candidates =
        spans.stream()
            .filter(LineSpan::isOfOnePlacement)
            .sorted(Comparator.comparingDouble(LineSpan::leastNanos))
            .toList();
    List<LineSpan> best = List.of();
    for (LineSpan first : candidates) {
      LineSpan window = new LineSpan(first.leastNanos, first.leastNanos * SAME);
      List<LineSpan> within = candidates.stream().filter(span -> span.isWithin(window)).toList();
      best = within.size() > best.size() ? within : best;
    }
    return best.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new LineSpan(
                best.get(0).leastNanos,
                best.stream().mapToDouble(LineSpan::mostNanos).max().orElseThrow()));
  }
}
