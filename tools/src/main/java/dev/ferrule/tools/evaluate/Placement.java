// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.evaluate;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.ferrule.tools.bench.LineSpan;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Where the two processors were in the rounds that belong together, those of an experiment or those
 * that a model is fitted to, and which of them count.
 */
public final class Placement {

  /** The figure of a bare line right before a measurement, in nanoseconds. */
  public static final String BEFORE = "line_before_ns";

  /** The figure of the line right after it. */
  public static final String AFTER = "line_after_ns";

  private final List<LineSpan> all;
  private final Optional<LineSpan> usual;

  /**
   * Looks where most rounds were measured.
   *
   * @param results the figures of the rounds; those without a line do not count
   */
  Placement(Collection<JsonObject> results) {
    all = spans(results);
    usual = LineSpan.usual(all);
  }

  private static List<LineSpan> spans(Collection<JsonObject> results) {
    return results.stream().map(Placement::span).flatMap(Optional::stream).toList();
  }

  /** Returns how long the line took; empty if nobody looked. */
  private static Optional<LineSpan> span(JsonObject result) {
    List<Double> lines = new ArrayList<>();
    for (String name : List.of(BEFORE, AFTER)) {
      JsonElement line = result.get(name);
      if (line != null && line.isJsonPrimitive() && line.getAsJsonPrimitive().isNumber()) {
        lines.add(line.getAsDouble());
      }
    }
    return lines.size() == 2 ? LineSpan.of(lines) : Optional.empty();
  }

  /**
   * Tells whether the processors were moved in the middle of a measurement.
   *
   * @param result its figures
   * @return true if the line was another one after it; false also if nobody looked
   */
  static boolean moved(JsonObject result) {
    return span(result).map(span -> !span.isOfOnePlace()).orElse(false);
  }

  /**
   * Returns how long the line took, in nanoseconds.
   *
   * @param results the figures of rounds
   * @return the mean; empty if nobody looked
   */
  static Optional<Double> lineNanos(Collection<JsonObject> results) {
    List<LineSpan> spans = spans(results);
    return spans.isEmpty()
        ? Optional.empty()
        : Optional.of(spans.stream().mapToDouble(LineSpan::middleNanos).average().orElseThrow());
  }

  /**
   * Tells whether the processors were where they were in most rounds, all the time.
   *
   * @param result the figures of a round
   * @return true if they were, if nobody looked, and if they were moved in all rounds
   */
  boolean isUsual(JsonObject result) {
    return usual.isEmpty() || span(result).map(span -> span.isWithin(usual.get())).orElse(true);
  }

  /**
   * Returns the rounds of a point that count.
   *
   * @param results all of its rounds
   * @return those of the usual place; if there are none, those of the place that this point was
   *     measured in most often; if it was moved in all of them, all
   */
  List<JsonObject> counting(Collection<JsonObject> results) {
    List<JsonObject> here = results.stream().filter(this::isUsual).toList();
    if (!here.isEmpty()) {
      return here;
    }
    Placement own = new Placement(results);
    return results.stream().filter(own::isUsual).toList();
  }

  /** Says which rounds count; empty if the processors stayed where they were, and all do. */
  Optional<String> note() {
    if (all.isEmpty() || usual.isPresent() && all.stream().allMatch(this::isHere)) {
      return Optional.empty();
    }
    double least = all.stream().mapToDouble(LineSpan::leastNanos).min().orElseThrow();
    double most = all.stream().mapToDouble(LineSpan::mostNanos).max().orElseThrow();
    String moved =
        String.format(
            Locale.ROOT,
            "The processors were moved meanwhile: a bare cache line took %.0f to %.0f ns from one to"
                + " the other",
            least,
            most);
    return Optional.of(
        usual.isEmpty()
            ? moved + ", and changed within every round, so that these figures say little."
            : moved
                + ". Of rounds in which anybody looked, those count in which it took "
                + here());
  }

  private String here() {
    return String.format(
        Locale.ROOT,
        "%.0f to %.0f ns.",
        usual.orElseThrow().leastNanos(),
        usual.orElseThrow().mostNanos());
  }

  private boolean isHere(LineSpan span) {
    return span.isWithin(usual.orElseThrow());
  }
}
