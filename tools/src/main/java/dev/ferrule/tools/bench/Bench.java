// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.ArrayList;
import java.util.List;

/**
 * Measures in rounds, after a warm-up. The rounds of several measurements are interleaved, so that
 * a disturbance affects all of them equally.
 */
public abstract class Bench {

  final Subject subject;
  final Plan plan;

  Bench(Subject subject, Plan plan) {
    this.subject = subject;
    this.plan = plan;
  }

  /** The measurement of one size. Each round adds to its results. */
  interface Measurement {

    /** Returns what is measured, such as {@code 64 bytes}. */
    String name();

    /** Warms up. In the first measurement the loops are not yet compiled. */
    void warmUp(boolean first);

    /** Measures the round with the given index. */
    void round(int index);

    /** Returns the results of the rounds so far; empty before the first one. */
    List<Result> results();

    /** Returns the intervals, into which each round counts its messages. */
    default Intervals intervals() {
      return Intervals.NONE;
    }
  }

  /**
   * Measures, in the calling thread, and in the other sender threads if there are any.
   *
   * @return the results, by size
   */
  public final List<Result> run() {
    return run(Observer.NONE);
  }

  /**
   * Measures, in the calling thread, and in the other sender threads if there are any.
   *
   * @param observer receives the progress
   * @return the results, by size
   */
  public abstract List<Result> run(Observer observer);

  /**
   * Runs measurements in interleaved rounds or, if the observer wants intervals, one after the
   * other. Returns the earlier results followed by theirs.
   */
  final List<Result> run(
      List<? extends Measurement> measurements, List<Result> earlier, Observer observer) {
    if (observer.intervalNanos() == Observer.NO_INTERVALS) {
      return interleaved(measurements, earlier, observer);
    }
    List<Result> results = earlier;
    for (Measurement measurement : measurements) {
      results = interleaved(List.of(measurement), results, observer);
    }
    return results;
  }

  private List<Result> interleaved(
      List<? extends Measurement> together, List<Result> earlier, Observer observer) {
    for (Measurement measurement : together) {
      observer.progress("warming up, " + measurement.name(), () -> earlier);
      measurement.warmUp(earlier.isEmpty() && measurement == together.get(0));
    }
    together.forEach(measurement -> measurement.intervals().begin());
    for (int round = 0; round < plan.rounds(); round++) {
      for (Measurement measurement : together) {
        measurement.round(round);
        observer.progress(
            "round " + (round + 1) + " of " + plan.rounds() + ", " + measurement.name(),
            () -> results(together, earlier));
      }
    }
    together.forEach(measurement -> measurement.intervals().end());
    return results(together, earlier);
  }

  private static List<Result> results(List<? extends Measurement> together, List<Result> earlier) {
    List<Result> results = new ArrayList<>(earlier);
    together.forEach(measurement -> results.addAll(measurement.results()));
    return results;
  }
}
