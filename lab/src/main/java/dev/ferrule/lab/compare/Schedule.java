// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import dev.ferrule.lab.compare.competitor.Measure;
import dev.ferrule.lab.compare.transport.Mode;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * How much to measure.
 *
 * @param sizesBytes the lengths of the messages, by measure
 * @param rounds the number of measurements of each competitor at each size
 * @param roundMillis the approximate duration of one measurement
 * @param warmUpMillis the minimum duration of each competitor's warm-up for each size
 */
public record Schedule(
    Map<Measure, List<Integer>> sizesBytes, int rounds, int roundMillis, int warmUpMillis) {

  private static final List<Integer> SHORT = List.of(8, 64);
  private static final List<Integer> SHORTEST = List.of(8);

  private static final Schedule THOROUGH =
      new Schedule(usual(List.of(8, 16, 64, 128, 256, 1024, 4096)), 5, 100, 400);
  private static final Schedule QUICK = new Schedule(usual(List.of(8, 64, 256)), 3, 40, 300);

  /** Creates a schedule with the same lengths for all measures. */
  public Schedule(List<Integer> sizesBytes, int rounds, int roundMillis, int warmUpMillis) {
    this(sizes(measure -> sizesBytes), rounds, roundMillis, warmUpMillis);
  }

  private static Map<Measure, List<Integer>> sizes(Function<Measure, List<Integer>> ofMeasure) {
    return Arrays.stream(Measure.values())
        .collect(Collectors.toMap(Function.identity(), ofMeasure));
  }

  /**
   * Returns the default lengths: batches and several senders matter for short messages, and a
   * wake-up takes far longer than a copy.
   */
  private static Map<Measure, List<Integer>> usual(List<Integer> sizesBytes) {
    return sizes(measure -> {
      if (measure == Measure.LATENCY || measure == Measure.RATE) {
        return sizesBytes;
      }
      return measure.mode() == Mode.BLOCKED_RECEIVER ? SHORTEST : SHORT;
    });
  }

  /** Returns the schedule without options. */
  public static Schedule usual(boolean quick) {
    return quick ? QUICK : THOROUGH;
  }

  public List<Integer> sizesBytes(Measure measure) {
    return Objects.requireNonNull(sizesBytes.get(measure));
  }
}
