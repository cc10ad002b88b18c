// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * How long a bare cache line took from one processor to another while something was measured: from
 * the least to the most. The hosts of virtual machines move their processors, from one cache to
 * another and within seconds, and a message takes several times as long after that; so rounds of
 * one place are not to be mixed with those of another.
 *
 * @param leastNanos the shortest time, in nanoseconds
 * @param mostNanos the longest
 */
public record LineSpan(double leastNanos, double mostNanos) {

  /**
   * Times of one place differ by less, those of two by more: on one core 25 ns or so, behind one
   * cache 40 to 65, and apart 150 and more.
   */
  private static final double SAME = 1.5;

  /**
   * Returns the span of several times.
   *
   * @param nanos the times
   * @return the span; empty if there are none, or one is no time
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

  /**
   * Tells whether the processors may have been in one place all the time.
   *
   * @return false if they were moved
   */
  public boolean isOfOnePlace() {
    return mostNanos <= SAME * leastNanos;
  }

  /**
   * Tells whether the processors were in a place all the time.
   *
   * @param place the span of that place
   * @return true if this span is within that
   */
  public boolean isWithin(LineSpan place) {
    return leastNanos >= place.leastNanos && mostNanos <= place.mostNanos;
  }

  /**
   * Returns the middle.
   *
   * @return nanoseconds
   */
  public double middleNanos() {
    return Math.sqrt(leastNanos * mostNanos);
  }

  /**
   * Finds the place where the processors were most of the time.
   *
   * @param spans the spans of what was measured; those in which they were moved do not count
   * @return the span of all that is of that place; empty if there is none
   */
  public static Optional<LineSpan> usual(Collection<LineSpan> spans) {
    List<LineSpan> candidates =
        spans.stream()
            .filter(LineSpan::isOfOnePlace)
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
