// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import com.google.gson.JsonObject;
import dev.ferrule.lab.compare.match.Entrant;
import dev.ferrule.lab.compare.match.Outcome;
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

  private final Entrant entrant;
  private final String version; // cached: each query starts a process
  private final Optional<Entrant> floor;
  private final Contestant.Turn turn;
  private final Schedule schedule;

  /**
   * Creates a task.
   *
   * @param provider the provider whose comparison this is part of
   * @param entrant the competitor
   * @param version the version measured
   * @param floor determines the placement of the processors; empty for messages that do not travel
   *     by cache lines
   * @param turn the measurement
   * @param schedule the duration
   */
  PeerTask(
      String provider,
      Entrant entrant,
      String version,
      Optional<Entrant> floor,
      Contestant.Turn turn,
      Schedule schedule) {
    this.provider = provider;
    this.entrant = entrant;
    this.version = version;
    this.floor = floor;
    this.turn = turn;
    this.schedule = schedule;
  }

  @Override
  public JsonObject description() {
    JsonObject description = new JsonObject();
    description.addProperty("experiment", PeerExperiment.id(turn.measure()));
    description.addProperty("provider", provider);
    description.addProperty("kind", turn.measure().toString());
    description.addProperty("size_bytes", turn.sizeBytes());
    description.addProperty("entrant", entrant.name());
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
      return OptionalDouble.of(contestant(bench, key, floor.get(), Mode.ONE_SENDER).lineNanos());
    } catch (RuntimeException e) {
      bench.dismiss(key);
      throw e;
    }
  }

  private String key(Entrant one, Mode mode) {
    return provider + " " + one.name() + " " + mode;
  }

  private Contestant contestant(Workbench bench, String key, Entrant one, Mode mode) {
    return bench.guest(
        key,
        Contestant.class,
        () -> new Contestant(one, one.start(mode, bench.problems()), schedule));
  }

  /** Keeps both sides until the end, as starting and warming them up takes a while. */
  @Override
  public JsonObject run(Workbench bench) {
    Mode mode = turn.measure().mode();
    String key = key(entrant, mode);
    try {
      OptionalDouble before = lineNanos(bench);
      Outcome outcome = contestant(bench, key, entrant, mode).measure(turn);
      JsonObject figures = new JsonObject();
      figures.addProperty(PeerExperiment.metric(turn.measure()).name(), outcome.value());
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
