// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import com.google.gson.JsonObject;
import dev.ferrule.tools.bench.LineSpan;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Where the hypervisor placed the two processors during the rounds of an experiment, or of a model,
 * and which of the rounds count. A bare cache line's latency identifies a placement.
 */
public final class Placement {

  /**
   * The name, in results, of the latency of a bare cache line right before a measurement, in ns.
   */
  public static final String BEFORE = "line_before_ns";

  /** The name, in results, of that latency right after the measurement. */
  public static final String AFTER = "line_after_ns";

  private final List<LineSpan> all;
  private final Optional<LineSpan> usual;

  /** Determines the placement of most rounds; those without a measured line do not count. */
  Placement(Collection<JsonObject> results) {
    all = spans(results);
    usual = LineSpan.mostFrequent(all);
  }

  private static List<LineSpan> spans(Collection<JsonObject> results) {
    return results.stream().map(Placement::span).flatMap(Optional::stream).toList();
  }

  /** Returns the range of the line's latency; empty if it was not measured. */
  private static Optional<LineSpan> span(JsonObject result) {
    List<Double> lines =
        Stream.of(BEFORE, AFTER)
            .flatMapToDouble(name -> Records.number(result, name).stream())
            .boxed()
            .toList();
    return lines.size() == 2 ? LineSpan.of(lines) : Optional.empty();
  }

  /**
   * Returns whether the line's latency shows that the processors were migrated during a
   * measurement.
   */
  static boolean moved(JsonObject result) {
    return span(result).map(span -> !span.isOfOnePlacement()).orElse(false);
  }

  /** Returns the line's mean latency in nanoseconds; empty if it was not measured. */
  static Optional<Double> lineNanos(Collection<JsonObject> results) {
    List<LineSpan> spans = spans(results);
    return spans.isEmpty()
        ? Optional.empty()
        : Optional.of(spans.stream().mapToDouble(LineSpan::middleNanos).average().orElseThrow());
  }

  /**
   * Returns whether the processors stayed in the placement of most rounds; true also if the line
   * was not measured, or if there is no such placement.
   */
  boolean isUsual(JsonObject result) {
    return usual.isEmpty() || span(result).map(span -> span.isWithin(usual.get())).orElse(true);
  }

  /**
   * Returns those rounds of a point that count: those of the usual placement; if there are none,
   * those of this point's most frequent placement; if the processors were migrated in all of them,
   * all.
   */
  List<JsonObject> counting(Collection<JsonObject> results) {
    List<JsonObject> here = results.stream().filter(this::isUsual).toList();
    if (!here.isEmpty()) {
      return here;
    }
    Placement own = new Placement(results);
    return results.stream().filter(own::isUsual).toList();
  }

  /**
   * Returns a note about which rounds count; empty if the processors were not migrated, so that all
   * do.
   */
  Optional<String> note() {
    if (all.isEmpty()
        || usual.isPresent() && all.stream().allMatch(span -> span.isWithin(usual.get()))) {
      return Optional.empty();
    }
    double least = all.stream().mapToDouble(LineSpan::leastNanos).min().orElseThrow();
    double most = all.stream().mapToDouble(LineSpan::mostNanos).max().orElseThrow();
    String moved =
        "The processors were migrated during the measurements: between them a bare cache line took "
            + range(least, most);
    return Optional.of(
        usual.isEmpty()
            ? moved + ", and changed within every round: these figures are not reliable."
            : moved
                + ". Of the rounds with a measured line, those count in which it took "
                + range(usual.get().leastNanos(), usual.get().mostNanos())
                + ".");
  }

  private static String range(double least, double most) {
    return String.format(Locale.ROOT, "%.0f to %.0f ns", least, most);
  }
}
