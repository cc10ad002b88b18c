// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import com.google.gson.JsonObject;
import dev.ferrule.lab.compare.competitor.Competitor;
import dev.ferrule.lab.compare.competitor.Measure;
import dev.ferrule.lab.compare.competitor.Outcome;
import dev.ferrule.lab.compare.transport.Mode;
import dev.ferrule.lab.evaluate.Metric;
import dev.ferrule.lab.evaluate.Placement;
import dev.ferrule.lab.evaluate.Task;
import dev.ferrule.lab.evaluate.Workbench;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;

/**
 * The measurement of one competitor at one size, as a point of an evaluation.
 *
 * @param provider the provider whose comparison this is part of
 * @param version the version of the competitor, queried once, as each query starts a process
 * @param floor determines the placement of the processors; empty for messages that do not travel by
 *     cache lines
 */
record PeerTask(
    String provider,
    Competitor competitor,
    String version,
    Optional<Competitor> floor,
    RunningCompetitor.Setting measurement,
    Schedule schedule)
    implements Task {

  static String experiment(Measure measure) {
    return "peers-" + measure;
  }

  static Metric metric(Measure measure) {
    return measure.isTime() ? Metric.P50 : Metric.MESSAGES;
  }

  @Override
  public JsonObject description() {
    JsonObject description = new JsonObject();
    description.addProperty("experiment", experiment(measurement.measure()));
    description.addProperty("provider", provider);
    description.addProperty("kind", measurement.measure().toString());
    description.addProperty("size_bytes", measurement.sizeBytes());
    description.addProperty("competitor", competitor.name());
    description.addProperty("version", version);
    return description;
  }

  /** Returns the bare line's current latency; empty if messages do not travel by cache lines. */
  private OptionalDouble lineNanos(Workbench bench) {
    return floor.isEmpty()
        ? OptionalDouble.empty()
        : OptionalDouble.of(on(bench, floor.get(), Mode.ONE_SENDER, RunningCompetitor::lineNanos));
  }

  /**
   * Measures with a competitor that is kept until the experiment ends, as it takes a while to start
   * and warm up both sides.
   */
  private <T> T on(
      Workbench bench, Competitor one, Mode mode, Function<RunningCompetitor, T> measuring) {
    String key = provider + " " + one.name() + " " + mode;
    try {
      return measuring.apply(
          bench.resource(
              key,
              RunningCompetitor.class,
              () -> new RunningCompetitor(one, one.start(mode, bench.problems()), schedule)));
    } catch (RuntimeException e) {
      bench.closeResource(key);
      throw e;
    }
  }

  @Override
  public JsonObject run(Workbench bench) {
    Measure measure = measurement.measure();
    OptionalDouble before = lineNanos(bench);
    Outcome outcome =
        on(bench, competitor, measure.mode(), running -> running.measure(measurement));
    JsonObject figures = new JsonObject();
    figures.addProperty(metric(measure).name(), outcome.value());
    outcome.p99Nanos().ifPresent(nanos -> figures.addProperty(Metric.P99.name(), nanos));
    before.ifPresent(nanos -> figures.addProperty(Placement.BEFORE, nanos));
    lineNanos(bench).ifPresent(nanos -> figures.addProperty(Placement.AFTER, nanos));
    return figures;
  }
}
