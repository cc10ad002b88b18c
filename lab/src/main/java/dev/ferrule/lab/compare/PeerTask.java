// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import com.google.gson.JsonObject;
import dev.ferrule.lab.compare.competitor.Competitor;
import dev.ferrule.lab.compare.competitor.Outcome;
import dev.ferrule.lab.compare.transport.Mode;
import dev.ferrule.lab.evaluate.Metric;
import dev.ferrule.lab.evaluate.Placement;
import dev.ferrule.lab.evaluate.Task;
import dev.ferrule.lab.evaluate.Workbench;
import java.util.Optional;
import java.util.OptionalDouble;

/** The measurement of one competitor at one size, as a point of an evaluation. */
final class PeerTask implements Task {

  /** Distinguishes the points of one provider's comparison from those of another's. */
  private final String provider;

  private final Competitor competitor;
  private final String version; // cached: each query starts a process
  private final Optional<Competitor> floor;
  private final RunningCompetitor.Setting setting;
  private final Schedule schedule;

  /** Creates a task; without a floor, messages do not travel by cache lines. */
  PeerTask(
      String provider,
      Competitor competitor,
      String version,
      Optional<Competitor> floor,
      RunningCompetitor.Setting setting,
      Schedule schedule) {
    this.provider = provider;
    this.competitor = competitor;
    this.version = version;
    this.floor = floor;
    this.setting = setting;
    this.schedule = schedule;
  }

  @Override
  public JsonObject description() {
    JsonObject description = new JsonObject();
    description.addProperty("experiment", PeerExperiment.id(setting.measure()));
    description.addProperty("provider", provider);
    description.addProperty("kind", setting.measure().toString());
    description.addProperty("size_bytes", setting.sizeBytes());
    description.addProperty("competitor", competitor.name());
    description.addProperty("version", version);
    return description;
  }

  /** Returns the bare line's current latency; empty if messages do not travel by cache lines. */
  private OptionalDouble lineNanos(Workbench bench) {
    if (floor.isEmpty()) {
      return OptionalDouble.empty();
    }
    String key = key(floor.get(), Mode.ONE_SENDER);
    try {
      return OptionalDouble.of(running(bench, key, floor.get(), Mode.ONE_SENDER).lineNanos());
    } catch (RuntimeException e) {
      bench.dismiss(key);
      throw e;
    }
  }

  private String key(Competitor one, Mode mode) {
    return provider + " " + one.name() + " " + mode;
  }

  private RunningCompetitor running(Workbench bench, String key, Competitor one, Mode mode) {
    return bench.guest(
        key,
        RunningCompetitor.class,
        () -> new RunningCompetitor(one, one.start(mode, bench.problems()), schedule));
  }

  /** Keeps both sides until the end, as starting and warming them up takes a while. */
  @Override
  public JsonObject run(Workbench bench) {
    Mode mode = setting.measure().mode();
    String key = key(competitor, mode);
    try {
      OptionalDouble before = lineNanos(bench);
      Outcome outcome = running(bench, key, competitor, mode).measure(setting);
      JsonObject figures = new JsonObject();
      figures.addProperty(PeerExperiment.metric(setting.measure()).name(), outcome.value());
      outcome.p99Nanos().ifPresent(nanos -> figures.addProperty(Metric.P99.name(), nanos));
      before.ifPresent(nanos -> figures.addProperty(Placement.BEFORE, nanos));
      lineNanos(bench).ifPresent(nanos -> figures.addProperty(Placement.AFTER, nanos));
      return figures;
    } catch (RuntimeException e) {
      bench.dismiss(key);
      throw e;
    }
  }
}
