// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.evaluate;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.Collection;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/**
 * Where the two processors of a measurement were, as told by the time that a bare cache line takes
 * from one to the other. Hosts move the processors of their virtual machines, from one cache to
 * another, and a message takes several times as long after that; so rounds of one place are not to
 * be mixed with those of another.
 */
final class Placement {

  /** The figure of the line right before a measurement. */
  static final String BEFORE = "line_before_ns";

  /** The figure of the line right after it. */
  static final String AFTER = "line_after_ns";

  /** Lines that differ by less may be of one place; from one to the next it is a factor of 2. */
  private static final double SAME = 1.5;

  private static final List<String> LINES = List.of(BEFORE, AFTER);

  private final DoubleSummaryStatistics all = new DoubleSummaryStatistics();
  private final double usual;

  /**
   * Looks where most rounds were measured.
   *
   * @param results the figures of all rounds; those without a line do not count
   */
  Placement(Collection<JsonObject> results) {
    List<double[]> lines = results.stream().map(Placement::lines).filter(Placement::is).toList();
    double best = 0;
    long most = 0;
    for (double[] some : lines) {
      all.accept(some[0]);
      all.accept(some[1]);
      double middle = Math.sqrt(some[0] * some[1]);
      long count = lines.stream().filter(others -> isAt(middle, others)).count();
      if (count > most) {
        most = count;
        best = middle;
      }
    }
    usual = best;
  }

  private static double[] lines(JsonObject result) {
    return LINES.stream()
        .map(result::get)
        .filter(line -> line != null && line.isJsonPrimitive())
        .mapToDouble(JsonElement::getAsDouble)
        .toArray();
  }

  private static boolean is(double[] lines) {
    return lines.length == LINES.size();
  }

  private static boolean isAt(double place, double[] lines) {
    for (double line : lines) {
      if (line > place * SAME || line * SAME < place) {
        return false;
      }
    }
    return true;
  }

  /**
   * Tells whether the processors were moved in the middle of a measurement.
   *
   * @param result its figures
   * @return true if the line was another one after it; false also if nobody looked
   */
  static boolean moved(JsonObject result) {
    double[] lines = lines(result);
    return is(lines) && Math.max(lines[0], lines[1]) > SAME * Math.min(lines[0], lines[1]);
  }

  /**
   * Returns how long the line took.
   *
   * @param result the figures of a measurement
   * @return nanoseconds; empty if nobody looked
   */
  static OptionalDouble lineNanos(JsonObject result) {
    double[] lines = lines(result);
    return is(lines) ? OptionalDouble.of((lines[0] + lines[1]) / 2) : OptionalDouble.empty();
  }

  /**
   * Tells whether the processors were where they were for most rounds, all the time.
   *
   * @param result the figures of a round
   * @return true if they were, and if nobody looked
   */
  boolean isUsual(JsonObject result) {
    double[] lines = lines(result);
    return !is(lines) || isAt(usual, lines);
  }

  /** Says that the processors were moved, and which rounds count; empty if they stayed. */
  Optional<String> note() {
    if (all.getCount() == 0
        || Stream.of(all.getMin(), all.getMax())
            .allMatch(line -> isAt(usual, new double[] {line, line}))) {
      return Optional.empty();
    }
    return Optional.of(
        "The processors were moved in the course of this: a bare cache line took %.0f to %.0f ns from one to the other. Figures are of rounds in which it took %.0f to %.0f ns, where there are such."
            .formatted(all.getMin(), all.getMax(), usual / SAME, usual * SAME));
  }
}
