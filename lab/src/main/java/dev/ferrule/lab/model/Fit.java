// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Finds the parameters that explain measurements best, by least squares.
 *
 * <p>The residuals are the logarithms of predicted over measured, so that 10 % count the same for
 * 100 ns as for 1 ms. The search varies the parameters' logarithms, so that none becomes negative.
 * The rate of a stream depends on its slowest stage alone, so the search starts several times, each
 * time with another stage as the slowest.
 */
public final class Fit {

  /** The factor by which a timed call may be slower than a stream before it is rejected. */
  private static final double SLACK = 1.05;

  private final List<Observation> observations;
  private final boolean acknowledged;
  private final Map<Parameter, Estimate> fixed = new EnumMap<>(Parameter.class);
  private final List<Parameter> free = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();

  private Fit(List<Observation> observations, List<TimedCall> calls, boolean acknowledged) {
    this.observations = List.copyOf(observations);
    this.acknowledged = acknowledged;
    takeCalls(calls);
    Set<Parameter> wanted = EnumSet.allOf(Parameter.class);
    if (observations.stream().noneMatch(observation -> observation.load().batch() > 1)) {
      wanted.remove(Parameter.DOORBELL);
    }
    wanted.removeAll(fixed.keySet());
    free.addAll(wanted);
  }

  /**
   * Returns the fit of the parameters that were not timed; empty if there are too few measurements.
   */
  public static Optional<FitResult> of(
      List<Observation> observations, List<TimedCall> calls, boolean acknowledged) {
    long sizes =
        observations.stream()
            .filter(observation -> observation.kind() == Observation.Kind.LATENCY)
            .mapToInt(observation -> observation.load().sizeBytes())
            .distinct()
            .count();
    boolean streams =
        observations.stream()
            .anyMatch(observation -> observation.kind() == Observation.Kind.PERIOD);
    return sizes < 2 || !streams
        ? Optional.empty()
        : new Fit(observations, calls, acknowledged).search();
  }

  /**
   * Uses the timed calls, except those that other measurements contradict. A call that is timed
   * individually has cold caches, and receives one message where a stream receives many. Where a
   * stream is faster than a timed call would allow, the parameter is fitted instead.
   */
  private void takeCalls(List<TimedCall> calls) {
    calls.forEach(call -> fixed.put(call.parameter(), call.estimate()));
    double single = fastest(observation -> observation.load().batch() == 1);
    double any = fastest(observation -> true);
    leaveToFit(
        Parameter.SEND_OVERHEAD,
        value(Parameter.SEND_OVERHEAD) > single * SLACK,
        "messages were sent every " + whole(single) + " ns");
    leaveToFit(
        Parameter.RECEIVE_OVERHEAD,
        value(Parameter.RECEIVE_OVERHEAD) + value(Parameter.RECEIVE_GAP) > any * SLACK,
        "messages arrived every " + whole(any) + " ns");
    leaveToFit(
        Parameter.RECEIVE_GAP,
        value(Parameter.RECEIVE_GAP) > any * SLACK,
        "messages arrived every " + whole(any) + " ns");
    double shortest = fastest(Observation.Kind.LATENCY, observation -> true);
    leaveToFit(
        Parameter.RECEIVE_OVERHEAD,
        value(Parameter.SEND_OVERHEAD) + value(Parameter.RECEIVE_OVERHEAD) > shortest,
        "a message takes " + whole(shortest) + " ns in total");
  }

  private void leaveToFit(Parameter parameter, boolean contradicted, String why) {
    if (contradicted && fixed.containsKey(parameter)) {
      double timed = fixed.remove(parameter).value();
      notes.add(
          "%s: the timed call takes %s ns, but %s: fitted instead"
              .formatted(parameter.symbol(), whole(timed), why));
    }
  }

  private static String whole(double nanos) {
    return String.valueOf(Math.round(nanos));
  }

  private double value(Parameter parameter) {
    Estimate estimate = fixed.get(parameter);
    return estimate == null ? 0 : estimate.value();
  }

  private double fastest(Predicate<Observation> which) {
    return fastest(Observation.Kind.PERIOD, which);
  }

  private double fastest(Observation.Kind kind, Predicate<Observation> which) {
    return observations.stream()
        .filter(observation -> observation.kind() == kind)
        .filter(which)
        .mapToDouble(Observation::nanos)
        .min()
        .orElse(Double.MAX_VALUE);
  }

  private Optional<FitResult> search() {
    Map<Parameter, Double> known = new EnumMap<>(Parameter.class);
    fixed.forEach((parameter, estimate) -> known.put(parameter, estimate.value()));
    FitProblem problem = new FitProblem(observations, acknowledged, known, free);
    return starts().stream()
        .map(start -> LeastSquares.from(start, problem))
        .min(Comparator.comparingDouble(problem::cost))
        .map(best -> new Identifiability(problem, best, fixed, notes).read());
  }

  /**
   * Returns a starting point for each combination of the stage that is slowest for single messages,
   * and the one that is slowest for batches.
   */
  private List<double[]> starts() {
    double latency = fastest(Observation.Kind.LATENCY, observation -> true);
    double batched = fastest(observation -> true);
    double single = Math.min(latency, fastest(observation -> observation.load().batch() == 1));
    List<double[]> starts = new ArrayList<>();
    for (Parameter first :
        List.of(
            Parameter.SEND_GAP,
            Parameter.SEND_OVERHEAD,
            Parameter.SEND_NIC,
            Parameter.RECEIVE_NIC,
            Parameter.RECEIVE_OVERHEAD,
            Parameter.RECEIVE_GAP)) {
      for (Parameter second :
          List.of(Parameter.SEND_GAP, Parameter.RECEIVE_NIC, Parameter.RECEIVE_OVERHEAD)) {
        for (Observation.Kind kind : Observation.Kind.values()) {
          Map<Parameter, Double> start = new EnumMap<>(Parameter.class);
          for (Parameter parameter : free) {
            start.put(parameter, Math.max(0.1, batched / 10));
          }
          start.put(Parameter.LATENCY, latency / 2);
          double slope = slope(kind);
          double alone = slope(Observation.Kind.LATENCY) - slope;
          start.put(Parameter.BYTE_GAP, slope);
          start.put(Parameter.BYTE_ALONE, Math.max(slope / 10, alone));
          start.put(second, batched);
          start.put(first, single);
          start.put(Parameter.DOORBELL, Math.max(0.1, single - batched));
          starts.add(
              free.stream()
                  .mapToDouble(parameter -> Math.log(Objects.requireNonNull(start.get(parameter))))
                  .toArray());
        }
      }
    }
    return starts;
  }

  /** Returns the cost of a further byte, between the shortest and the longest message. */
  private double slope(Observation.Kind kind) {
    List<Observation> some =
        observations.stream()
            .filter(observation -> observation.kind() == kind)
            .sorted(
                Comparator.comparingInt((Observation observation) -> observation.load().sizeBytes())
                    .thenComparingDouble(Observation::nanos))
            .toList();
    Observation first = some.get(0);
    Observation last = some.get(some.size() - 1);
    double bytes = last.load().sizeBytes() - (double) first.load().sizeBytes();
    return Math.max(1e-3, bytes == 0 ? 0 : (last.nanos() - first.nanos()) / bytes);
  }
}
