// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers;

import dev.ferrule.tools.bench.Medians;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.IntStream;

/** The rounds of one measure at one size, for all entrants. */
final class Series {

  private final Measure measure;
  private final int sizeBytes;
  private final Map<String, List<Double>> values = new LinkedHashMap<>();
  private final Map<String, List<Double>> p99s = new LinkedHashMap<>();

  Series(Measure measure, int sizeBytes) {
    this.measure = measure;
    this.sizeBytes = sizeBytes;
  }

  /** Adds what an entrant did in the next round; every entrant takes part in every round. */
  void add(String entrant, double value, OptionalDouble p99Nanos) {
    values.computeIfAbsent(entrant, name -> new ArrayList<>()).add(value);
    List<Double> tails = p99s.computeIfAbsent(entrant, name -> new ArrayList<>());
    p99Nanos.ifPresent(tails::add);
  }

  /**
   * Returns the figures, in the order of the entrants' first round.
   *
   * @param ours whose values the others' are compared to
   * @param floor the name of the floor, which may not have taken part
   */
  List<Figure> figures(String ours, String floor) {
    return values.keySet().stream()
        .map(
            name ->
                new Figure(
                    measure,
                    sizeBytes,
                    name,
                    Medians.of(values.get(name)).orElseThrow(),
                    Medians.of(p99s.get(name)),
                    ratio(name, floor),
                    name.equals(ours) ? OptionalDouble.empty() : ratio(ours, name)))
        .toList();
  }

  private OptionalDouble ratio(String dividend, String divisor) {
    return Optional.ofNullable(values.get(divisor))
        .map(
            divisors ->
                Medians.of(
                    IntStream.range(0, divisors.size())
                        .mapToObj(i -> values.get(dividend).get(i) / divisors.get(i))
                        .toList()))
        .orElse(OptionalDouble.empty());
  }
}
