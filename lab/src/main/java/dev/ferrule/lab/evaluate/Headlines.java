// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import com.google.gson.JsonObject;
import dev.ferrule.lab.report.Headline;
import dev.ferrule.tools.bench.Medians;
import dev.ferrule.tools.report.Numbers;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/** The headline figures of a report, and how far they can be trusted. */
final class Headlines {

  private static final String LATENCY = "latency";
  private static final int SIZE = 64;
  private static final double STEADY = 1.2; // the spread of most points without disturbance
  private static final double FEW = 0.05;
  private static final double MANY = 0.25;
  private static final int ENOUGH_ROUNDS = 3;
  private static final double QUIET_LOAD = 0.5;

  private final List<Experiment> experiments;
  private final Records records;
  private final long left;
  private final List<String> reasons = new ArrayList<>();
  private Headline.Trust trust = Headline.Trust.HIGH;

  private Headlines(List<Experiment> experiments, Records records, long left) {
    this.experiments = experiments;
    this.records = records;
    this.left = left;
  }

  /**
   * Returns a headline for each provider whose messages were measured; {@code left} measurements
   * are still to be made.
   */
  static List<Headline> of(
      List<Experiment> experiments, Records records, JsonObject machine, long left) {
    List<Headline> headlines = new ArrayList<>();
    List<String> providers = experiments.stream().map(Experiment::provider).distinct().toList();
    for (String provider : providers) {
      List<Experiment> own =
          experiments.stream()
              .filter(experiment -> experiment.provider().equals(provider))
              .filter(experiment -> experiment.obstacle().isEmpty())
              .filter(experiment -> experiment.missingPeers().isEmpty()) // figures of others
              .toList();
      new Headlines(own, records, left).headline(provider, machine).ifPresent(headlines::add);
    }
    return headlines;
  }

  /** Returns the text for the number of measurements still to be made. */
  static String toGo(long left) {
    return left + (left == 1 ? " measurement" : " measurements") + " to go";
  }

  private Optional<Headline> headline(String provider, JsonObject machine) {
    List<Headline.Tile> tiles = new ArrayList<>();
    latency(Metric.P50, "p50").ifPresent(tiles::add);
    latency(Metric.P99, "p99").ifPresent(tiles::add);
    peak(Metric.MESSAGES, "peak messages/s").ifPresent(tiles::add);
    peak(Metric.BYTES, "peak bytes/s").ifPresent(tiles::add);
    if (tiles.isEmpty()) {
      return Optional.empty();
    }
    judge(machine);
    return Optional.of(new Headline(provider, tiles, trust, reasons));
  }

  private Stream<Series.Sample> samples(Experiment experiment, Metric metric) {
    return experiment.series().stream()
        .filter(series -> series.metric().equals(metric))
        .flatMap(series -> series.samples().stream());
  }

  private Optional<Headline.Tile> latency(Metric metric, String name) {
    return experiments.stream()
        .filter(experiment -> experiment.id().equals(LATENCY))
        .flatMap(experiment -> samples(experiment, metric))
        .filter(sample -> sample.x() == SIZE)
        .findFirst()
        .map(sample -> records.median(sample.task(), metric))
        .filter(OptionalDouble::isPresent)
        .map(value ->
            new Headline.Tile(
                "one-way latency, " + name,
                metric.format(value.getAsDouble()),
                SIZE + " B, one message in flight"));
  }

  /**
   * Returns the highest value of all points of messages, except those that the plots omit, and
   * those with a receiver that is slow on purpose.
   */
  private Optional<Headline.Tile> peak(Metric metric, String label) {
    double peak = 0;
    String where = "";
    for (Experiment experiment : experiments) {
      for (Series series : experiment.series()) {
        if (!series.metric().equals(Metric.MESSAGES) && !series.metric().equals(Metric.BYTES)) {
          continue;
        }
        for (Series.Sample sample : series.samples()) {
          if (sample.task() instanceof Point point && point.kind() == Point.Kind.OVERRUN) {
            continue;
          }
          OptionalDouble value = records.median(sample.task(), metric);
          if (value.isPresent()
              && value.getAsDouble() > peak
              && records.isAt(records.placement(sample.task()), sample.task())) {
            peak = value.getAsDouble();
            where = experiment.id() + ": " + series.name() + ", " + at(experiment, sample);
          }
        }
      }
    }
    return peak == 0
        ? Optional.empty()
        : Optional.of(new Headline.Tile(label, metric.format(peak), where));
  }

  /** Returns the value on the axis, with the axis's quantity. */
  private static String at(Experiment experiment, Series.Sample sample) {
    String value = experiment.x().format(sample.x());
    return switch (experiment.x().unit()) {
      case BYTES -> value;
      default -> experiment.x().label().replaceFirst(" \\(.*", "") + ": " + value;
    };
  }

  private void lower(Headline.Trust most, String reason) {
    trust = trust.compareTo(most) < 0 ? most : trust;
    reasons.add(reason);
  }

  private void judge(JsonObject machine) {
    if (Machine.isEmulated(machine)) {
      lower(
          Headline.Trust.LOW,
          "The processors are emulated: only ratios within this report are meaningful.");
    }
    if (left > 0) {
      lower(Headline.Trust.FAIR, "Partial: " + toGo(left) + ", which may change these figures.");
    }
    spreads();
    List<Task> tasks =
        experiments.stream().flatMap(experiment -> experiment.tasks().stream()).toList();
    if (records.placement(tasks).note().isPresent()) {
      lower(
          Headline.Trust.FAIR,
          "The host migrated the processors during the measurements; see the notes.");
    }
    long failed = failed();
    if (failed > 0) {
      lower(Headline.Trust.FAIR, "Points that failed: " + failed + ".");
    }
    load("The machine", machine);
    if (machine.get(Machine.SERVERS) instanceof JsonObject other) {
      load("The host of the servers", other);
    }
  }

  /**
   * Returns the number of failed points, except those of curves without any measured point: the
   * machine lacks their feature, such as KNEM.
   */
  private long failed() {
    return experiments.stream()
        .flatMap(experiment -> experiment.series().stream())
        .filter(series -> series.samples().stream().anyMatch(at -> records.isMeasured(at.task())))
        .flatMap(series -> series.samples().stream())
        .map(Series.Sample::task)
        .filter(task -> records.failure(task).isPresent())
        .distinct()
        .count();
  }

  private void spreads() {
    List<Double> spreads =
        experiments.stream().flatMap(experiment -> experiment.spreads(records).stream()).toList();
    if (spreads.isEmpty()) {
      lower(Headline.Trust.LOW, "There is only one round, so the variation is unknown.");
      return;
    }
    double middle = Medians.of(spreads).orElseThrow();
    long unsteady = spreads.stream().filter(spread -> spread > ExperimentSection.UNSTEADY).count();
    String rounds =
        String.format(
            Locale.ROOT,
            "The rounds of the median point differ by %.0f %%, those of %d of %d points by more than"
                + " a factor of %s.",
            (middle - 1) * 100,
            unsteady,
            spreads.size(),
            Numbers.plain(ExperimentSection.UNSTEADY));
    if (unsteady > MANY * spreads.size()) {
      lower(Headline.Trust.LOW, rounds);
    } else if (unsteady > FEW * spreads.size() || middle > STEADY) {
      lower(Headline.Trust.FAIR, rounds);
    } else {
      reasons.add(rounds);
    }
    if (records.rounds() < ENOUGH_ROUNDS) {
      lower(Headline.Trust.FAIR, "There are fewer than " + ENOUGH_ROUNDS + " rounds.");
    }
  }

  /** Lowers the trust if the load average exceeds that of a quiet machine, half a processor. */
  private void load(String name, JsonObject machine) {
    double load = Machine.loadOf(machine).orElse(0);
    if (load > QUIET_LOAD) {
      lower(
          load >= Machine.processorsOf(machine) ? Headline.Trust.LOW : Headline.Trust.FAIR,
          name + " was busy when the measurement began: load average " + Numbers.plain(load) + ".");
    }
  }
}
