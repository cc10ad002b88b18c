// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import dev.ferrule.lab.model.Concurrency;
import dev.ferrule.lab.model.FitResult;
import dev.ferrule.lab.report.Section;
import dev.ferrule.lab.report.Table;
import dev.ferrule.tools.report.Axis;
import dev.ferrule.tools.report.Numbers;
import dev.ferrule.tools.report.Plot;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * An experiment whose answer is a plot of several curves, and a table of the same.
 *
 * @param id the id for {@code --only}
 * @param provider the provider measured
 * @param title the title
 * @param text what is measured, and how
 * @param x the x axis
 * @param y the y axis
 * @param obstacle why it cannot be measured on this machine; empty if it can
 * @param series the curves
 */
public record SeriesExperiment(
    String id,
    String provider,
    String title,
    String text,
    Axis x,
    Axis y,
    Optional<String> obstacle,
    List<Series> series)
    implements Experiment {

  /** A model that is off by a greater factor is not drawn. */
  static final double MODEL_LIMIT = 2;

  /** A point is unsteady if its rounds differ by a greater factor. */
  static final double UNSTEADY = 2;

  private static final String MODEL = "model: ";

  @Override
  public List<Task> tasks() {
    // points to be compared are measured close together, unless that needs repeated set-up
    Map<Object, Set<Task>> bySetting = new LinkedHashMap<>();
    int longest = series.stream().mapToInt(one -> one.samples().size()).max().orElse(0);
    for (int i = 0; i < longest; i++) {
      for (Series one : series) {
        if (i < one.samples().size()) {
          Task task = one.samples().get(i).task();
          bySetting.computeIfAbsent(task.setting(), setting -> new LinkedHashSet<>()).add(task);
        }
      }
    }
    return bySetting.values().stream().flatMap(Set::stream).toList();
  }

  @Override
  public Section section(Records records, Models models) {
    List<String> notes = new ArrayList<>();
    obstacle.ifPresent(reason -> notes.add("Not measured: " + reason));
    Optional<FitResult> fit = models.of(provider);
    List<Plot.Curve> curves = obstacle.isPresent() ? List.of() : curves(records, fit);
    if (obstacle.isEmpty()) {
      notes.addAll(failures(records));
      unsteady(records).ifPresent(notes::add);
      moved(records).ifPresent(notes::add);
      verdict(records).ifPresent(notes::add);
      undrawn(records, fit).ifPresent(notes::add);
    }
    Plot plot = new Plot(provider + "-" + id, provider + ": " + title, x, y, curves);
    Table table = table(obstacle.isPresent() ? new Records() : records, fit);
    return new Section(
        provider + "-" + id,
        provider + ": " + title,
        text,
        plot.isEmpty() ? List.of() : List.of(plot),
        table.rows().isEmpty() ? List.of() : List.of(table),
        notes);
  }

  private List<String> failures(Records records) {
    Map<String, List<String>> byReason = new LinkedHashMap<>();
    for (Series one : series) {
      for (Series.Sample sample : one.samples()) {
        records
            .failure(sample.task())
            .ifPresent(reason ->
                byReason
                    .computeIfAbsent(reason, ignored -> new ArrayList<>())
                    .add(one.name() + " at " + x.format(sample.x())));
      }
    }
    return byReason.entrySet().stream()
        .map(entry ->
            "Not measured: "
                + String.join(", ", new LinkedHashSet<>(entry.getValue()))
                + ": "
                + entry.getKey())
        .toList();
  }

  /** Returns the spread of the rounds at each point that has several. */
  List<Double> spreads(Records records) {
    List<Double> spreads = new ArrayList<>();
    for (Series one : series) {
      if (one.isMeasured()) {
        for (Series.Sample sample : one.samples()) {
          records.spread(sample.task(), one.metric()).ifPresent(spreads::add);
        }
      }
    }
    return spreads;
  }

  /** Returns a note about unreliable points. */
  private Optional<String> unsteady(Records records) {
    List<Double> spreads = spreads(records);
    long unsteady = spreads.stream().filter(spread -> spread > UNSTEADY).count();
    return unsteady == 0
        ? Optional.empty()
        : Optional.of(
            "Rounds differ by more than a factor of "
                + Numbers.plain(UNSTEADY)
                + " at "
                + unsteady
                + " of "
                + spreads.size()
                + " points, because of other load, or too little time for each point: those"
                + " figures, and a model fitted to them, are not reliable.");
  }

  /** Returns a note about rounds that were excluded, and points that have no others. */
  private Optional<String> moved(Records records) {
    List<Task> measured =
        tasks().stream().filter(task -> records.lineNanos(task).isPresent()).toList();
    if (measured.isEmpty()) {
      return Optional.empty();
    }
    Placement place = records.placement(measured.get(0));
    long elsewhere = measured.stream().filter(task -> !records.isAt(place, task)).count();
    return place
        .note()
        .map(note ->
            elsewhere == 0
                ? note
                : note
                    + " "
                    + elsewhere
                    + " of "
                    + measured.size()
                    + " points have none; they are in the table, not in the plot.");
  }

  /** Says from which time of the receiver on it was not ready, once all points are measured. */
  private Optional<String> firstErrors(Records records) {
    if (!tasks().stream().allMatch(task -> records.has(task, 1))) {
      return Optional.empty();
    }
    return Optional.of(
        series.stream()
            .map(one -> one.name() + ": " + firstError(one, records))
            .collect(Collectors.joining("; ", "Receiver not ready: ", ".")));
  }

  private String firstError(Series one, Records records) {
    return one.samples().stream()
        .filter(sample -> hasOverrun(sample.task(), records))
        .findFirst()
        .map(sample ->
            sample.x() <= Catalogue.NO_PAUSE
                ? "even if it spends no time with a message"
                : "if it spends " + x.format(sample.x()) + " with each message")
        .orElse("never");
  }

  /** Rounds that ended in the error have no rate. */
  private static boolean hasOverrun(Task task, Records records) {
    return records.values(task, Metric.MESSAGES.name()).size()
        < records.values(task, Catalogue.SENT).size();
  }

  /** Returns the result of the experiment that can fail. */
  private Optional<String> verdict(Records records) {
    if (id.equals(Catalogue.OVERRUN)) {
      return firstErrors(records);
    }
    if (!id.equals(Catalogue.RNR_EXPERIMENT)) {
      return Optional.empty();
    }
    long measured = tasks().stream().filter(task -> records.has(task, 1)).count();
    int failures = tasks().stream().mapToInt(records::failures).sum();
    double lost =
        tasks().stream()
            .flatMap(task -> records.values(task, Catalogue.RNR).stream())
            .mapToDouble(Double::doubleValue)
            .sum();
    if (measured < tasks().size() && failures == 0) { // incomplete
      return Optional.empty();
    }
    if (failures > 0 || lost > 0) {
      return Optional.of(
          "FAILED: points failed "
              + failures
              + " times; messages without a receive: "
              + Numbers.plain(lost));
    }
    String points = measured + " of " + tasks().size() + " points were measured at the first try";
    return Optional.of(
        hasCounts(records)
            ? "Passed: " + points + ", and every message found a receive posted."
            : "Passed, without RNR counters: "
                + points
                + "; no device counts messages without a receive.");
  }

  private List<Plot.Curve> curves(Records records, Optional<FitResult> fit) {
    List<Plot.Curve> curves = new ArrayList<>();
    Map<List<Plot.Dot>, Integer> models =
        new LinkedHashMap<>(); // the index of each line, as some coincide
    for (Series one : series) {
      List<Plot.Dot> measured = new ArrayList<>();
      List<Plot.Dot> predicted = new ArrayList<>();
      for (Series.Sample sample : one.samples()) {
        records.median(sample.task(), one.metric()).stream()
            .filter(value -> records.isAt(records.placement(sample.task()), sample.task()))
            .forEach(value ->
                measured.add(dot(sample, value, records.values(sample.task(), one.metric()))));
        if (isNear(one, records, fit)) {
          prediction(one, sample, fit)
              .ifPresent(value -> predicted.add(new Plot.Dot(sample.x(), value)));
        }
      }
      if (!measured.isEmpty()) {
        curves.add(new Plot.Curve(one.name(), one.colour(), one.style(), measured));
      }
      if (!measured.isEmpty() && !predicted.isEmpty()) {
        Integer same = models.putIfAbsent(predicted, curves.size());
        if (same == null) {
          String name = MODEL + one.name();
          curves.add(new Plot.Curve(name, one.colour(), Plot.Style.MODEL, predicted));
        } else {
          Plot.Curve line = curves.get(same);
          String names = line.name() + "; " + one.name();
          curves.set(same, new Plot.Curve(names, line.colour(), line.style(), line.dots()));
        }
      }
    }
    return curves;
  }

  private static Plot.Dot dot(Series.Sample sample, double median, List<Double> rounds) {
    double low = rounds.stream().mapToDouble(Double::doubleValue).min().orElse(median);
    double high = rounds.stream().mapToDouble(Double::doubleValue).max().orElse(median);
    return new Plot.Dot(sample.x(), median, Math.min(low, median), Math.max(high, median));
  }

  /**
   * Returns the factor by which the model is off at the points of a curve, as the root mean square.
   */
  private static OptionalDouble error(Series series, Records records, Optional<FitResult> fit) {
    double squares = 0;
    int points = 0;
    for (Series.Sample sample : series.samples()) {
      OptionalDouble measured = records.median(sample.task(), series.metric());
      OptionalDouble predicted = prediction(series, sample, fit);
      if (measured.orElse(0) > 0 && predicted.orElse(0) > 0) {
        squares += Math.pow(Math.log(predicted.getAsDouble() / measured.getAsDouble()), 2);
        points++;
      }
    }
    return points == 0
        ? OptionalDouble.empty()
        : OptionalDouble.of(Math.exp(Math.sqrt(squares / points)));
  }

  private static boolean isNear(Series series, Records records, Optional<FitResult> fit) {
    return error(series, records, fit).orElse(1) <= MODEL_LIMIT;
  }

  /** Returns a note about curves whose model is too far off to be drawn. */
  private Optional<String> undrawn(Records records, Optional<FitResult> fit) {
    List<String> names =
        series.stream()
            .filter(one -> !isNear(one, records, fit))
            .map(one ->
                one.name()
                    + " (a factor of "
                    + Numbers.plain(error(one, records, fit).orElseThrow())
                    + ")")
            .toList();
    return names.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "The model is not shown where it is off by more than a factor of "
                + Numbers.plain(MODEL_LIMIT)
                + ": "
                + String.join(", ", names)
                + ".");
  }

  private static OptionalDouble prediction(
      Series series, Series.Sample sample, Optional<FitResult> fit) {
    Optional<Concurrency> concurrency = sample.task().concurrency();
    return series.model() != Series.Model.NONE && fit.isPresent() && concurrency.isPresent()
        ? OptionalDouble.of(series.metric().predicted(fit.get().model(), concurrency.get()))
        : OptionalDouble.empty();
  }

  private Table table(Records records, Optional<FitResult> fit) {
    boolean modelled =
        fit.isPresent() && series.stream().anyMatch(one -> one.model() != Series.Model.NONE);
    boolean counted = hasCounts(records);
    boolean lined = tasks().stream().anyMatch(task -> records.lineNanos(task).isPresent());
    List<String> header =
        new ArrayList<>(List.of("series", x.label(), "measured", "figure", "max/min (rounds)"));
    if (counted) {
      header.add("messages without a receive (RNR)");
    }
    if (lined) {
      header.add("bare line");
    }
    if (modelled) {
      header.addAll(List.of("model", "error", "bottleneck"));
    }
    Table table = new Table("", header);
    for (Series one : series) {
      for (Series.Sample sample : one.samples()) {
        OptionalDouble value = records.median(sample.task(), one.metric());
        if (value.isEmpty()) {
          continue;
        }
        List<String> row = new ArrayList<>();
        row.add(one.name());
        row.add(x.format(sample.x()));
        row.add(one.metric().format(value.getAsDouble()));
        row.add(one.metric().label());
        OptionalDouble spread = records.spread(sample.task(), one.metric());
        int rounds = records.values(sample.task(), one.metric()).size();
        row.add(
            spread.isPresent()
                ? Numbers.plain(spread.getAsDouble()) + " (" + rounds + ")"
                : "one round");
        if (counted) {
          List<Double> counts = records.values(sample.task(), Catalogue.RNR);
          row.add(
              counts.isEmpty()
                  ? "not counted"
                  : Numbers.plain(counts.stream().mapToDouble(Double::doubleValue).sum()));
        }
        if (lined) {
          row.add(records.lineNanos(sample.task()).map(Numbers::nanos).orElse("–"));
        }
        if (modelled) {
          row.addAll(
              modelCells(
                  one,
                  sample,
                  value.getAsDouble(),
                  isNear(one, records, fit) ? fit : Optional.empty()));
        }
        table.row(row);
      }
    }
    return table;
  }

  private boolean hasCounts(Records records) {
    return tasks().stream().anyMatch(task -> !records.values(task, Catalogue.RNR).isEmpty());
  }

  private static List<String> modelCells(
      Series series, Series.Sample sample, double measured, Optional<FitResult> fit) {
    OptionalDouble predicted = prediction(series, sample, fit);
    if (predicted.isEmpty()) {
      return List.of("", "", "");
    }
    boolean latency = series.metric().kind() == Metric.Kind.NANOS;
    String bottleneck = Bottlenecks.text(fit.get(), sample.task().concurrency().get(), latency);
    return List.of(
        series.metric().format(predicted.getAsDouble()),
        Numbers.error(predicted.getAsDouble() / measured),
        bottleneck);
  }
}
