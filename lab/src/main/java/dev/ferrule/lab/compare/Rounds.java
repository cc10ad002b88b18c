// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import dev.ferrule.lab.compare.competitor.Measure;
import dev.ferrule.lab.compare.competitor.Outcome;
import dev.ferrule.tools.bench.LineSpan;
import dev.ferrule.tools.bench.Medians;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The rounds of one measure at one size, for all competitors. */
final class Rounds {

  private final Measure measure;
  private final int sizeBytes;
  private final List<InterleavedRound> rounds = new ArrayList<>();

  Rounds(Measure measure, int sizeBytes) {
    this.measure = measure;
    this.sizeBytes = sizeBytes;
  }

  /** Adds the next round, which has an outcome of each competitor. */
  void add(InterleavedRound round) {
    rounds.add(round);
  }

  /**
   * Returns the figures, in the order of the competitors; if the processors were in several
   * placements, separately for each, that with the shortest latency of the line first.
   */
  List<Figure> figures(String ours, String floor) {
    return places().stream().flatMap(place -> figures(place, ours, floor)).toList();
  }

  /** Groups the rounds by placement. Rounds with a migration count only if there are no others. */
  private List<List<InterleavedRound>> places() {
    List<List<InterleavedRound>> places = new ArrayList<>();
    List<InterleavedRound> left = rounds.stream().filter(round -> !round.moved()).toList();
    while (!left.isEmpty()) {
      Optional<LineSpan> place =
          LineSpan.mostFrequent(
              left.stream().map(InterleavedRound::line).flatMap(Optional::stream).toList());
      Map<Boolean, List<InterleavedRound>> split =
          left.stream()
              .collect(
                  Collectors.partitioningBy(
                      round -> place.isEmpty() || round.line().get().isWithin(place.get())));
      places.add(Objects.requireNonNull(split.get(true)));
      left = Objects.requireNonNull(split.get(false));
    }
    places.sort(Comparator.comparingDouble(place -> middle(place).orElse(0)));
    return places.isEmpty() && !rounds.isEmpty() ? List.of(rounds) : places;
  }

  private static OptionalDouble middle(List<InterleavedRound> place) {
    return place.get(0).moved()
        ? OptionalDouble.empty()
        : Medians.of(
            place.stream()
                .flatMap(round -> round.line().stream())
                .map(LineSpan::middleNanos)
                .toList());
  }

  private Stream<Figure> figures(List<InterleavedRound> place, String ours, String floor) {
    OptionalDouble line = middle(place);
    return place.get(0).outcomes().keySet().stream()
        .map(name ->
            new Figure(
                measure,
                sizeBytes,
                name,
                value(place, name).orElseThrow(),
                median(place, name, Outcome::p99Nanos),
                place.size(),
                line,
                place.get(0).moved(),
                ratio(place, name, floor),
                name.equals(ours) ? OptionalDouble.empty() : ratio(place, ours, name)));
  }

  private static OptionalDouble median(
      List<InterleavedRound> place, String name, Function<Outcome, OptionalDouble> value) {
    return median(
        place.stream()
            .map(round -> value.apply(Objects.requireNonNull(round.outcomes().get(name)))));
  }

  private static OptionalDouble median(Stream<OptionalDouble> values) {
    return Medians.of(
        values.filter(OptionalDouble::isPresent).map(OptionalDouble::getAsDouble).toList());
  }

  /** Returns the ratio of two medians, which are shown as well; empty if either is missing. */
  private static OptionalDouble ratio(
      List<InterleavedRound> place, String dividend, String divisor) {
    return Medians.ratio(value(place, dividend), value(place, divisor));
  }

  private static OptionalDouble value(List<InterleavedRound> place, String name) {
    return place.get(0).outcomes().containsKey(name)
        ? median(place, name, outcome -> OptionalDouble.of(outcome.value()))
        : OptionalDouble.empty();
  }
}
