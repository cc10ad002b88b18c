// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import dev.ferrule.lab.model.Concurrency;
import dev.ferrule.lab.model.FitResult;
import dev.ferrule.lab.report.Section;
import dev.ferrule.lab.report.Table;
import dev.ferrule.tools.report.Numbers;
import dev.ferrule.tools.report.Plot;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The report's section about an experiment: a plot of its curves, tables, and notes. */
final class ExperimentSection {

  /** A model that is off by a greater factor is not drawn. */
  static final double MODEL_LIMIT = 2;

  /** A point is unsteady if its rounds differ by a greater factor. */
  static final double UNSTEADY = 2;

  private final Experiment experiment;
  private final Records records;
  private final Optional<FitResult> fit;
  private final List<Task> tasks;

  ExperimentSection(Experiment experiment, Records records, Optional<FitResult> fit) {
    this.experiment = experiment;
    this.records = records;
    this.fit = fit;
    this.tasks = experiment.tasks();
  }

  Section section() {
    String name = experiment.provider() + "-" + experiment.id();
    String title = experiment.provider() + ": " + experiment.title();
    List<String> notes = new ArrayList<>(failures());
    Stream.of(unsteady(), moved(), verdict(), undrawn())
        .flatMap(Optional::stream)
        .forEach(notes::add);
    List<Table> tables = new ArrayList<>(List.of(table()));
    experiment
        .missingPeers()
        .ifPresent(missing -> {
          tables.add(ratios());
          missing.forEach(reason -> notes.add("Not measured: " + reason));
        });
    tables.removeIf(table -> table.rows().isEmpty());
    Plot plot = new Plot(name, title, experiment.x(), experiment.y(), curves());
    List<Plot> plots = plot.isEmpty() ? List.of() : List.of(plot);
    return new Section(name, title, experiment.text(), plots, tables, notes);
  }

  private List<String> failures() {
    Map<String, LinkedHashSet<String>> byReason = new LinkedHashMap<>();
    for (Series series : experiment.series()) {
      for (Series.Sample sample : series.samples()) {
        records
            .failure(sample.task())
            .ifPresent(reason ->
                byReason
                    .computeIfAbsent(reason, ignored -> new LinkedHashSet<>())
                    .add(series.name() + " at " + experiment.x().format(sample.x())));
      }
    }
    return byReason.entrySet().stream()
        .map(
            entry -> "Not measured: " + String.join(", ", entry.getValue()) + ": " + entry.getKey())
        .toList();
  }

  /** Returns a note about unreliable points. */
  private Optional<String> unsteady() {
    List<Double> spreads = experiment.spreads(records);
    long unsteady = spreads.stream().filter(spread -> spread > UNSTEADY).count();
    return unsteady == 0
        ? Optional.empty()
        : Optional.of(
            ("Rounds differ by more than a factor of %s at %s of %s points, because of other load,"
                    + " or too little time for each point: those figures, and a model fitted to"
                    + " them, are not reliable.")
                .formatted(Numbers.plain(UNSTEADY), unsteady, spreads.size()));
  }

  /** Returns a note about rounds that were excluded, and points that have no others. */
  private Optional<String> moved() {
    List<Task> measured =
        tasks.stream().filter(task -> records.lineNanos(task).isPresent()).toList();
    if (measured.isEmpty()) {
      return Optional.empty();
    }
    Placement place = records.placement(measured.get(0));
    long elsewhere = measured.stream().filter(task -> !records.isAt(place, task)).count();
    String without =
        " %s of %s points have no such round; they are in the table, not in the plot."
            .formatted(elsewhere, measured.size());
    return place.note().map(note -> elsewhere == 0 ? note : note + without);
  }

  /** Returns the result of an experiment that can pass or fail. */
  private Optional<String> verdict() {
    return switch (experiment.id()) {
      case Catalogue.OVERRUN -> firstErrors();
      case Catalogue.RNR_EXPERIMENT -> receives();
      default -> Optional.empty();
    };
  }

  /**
   * Returns the least time per message with which the receiver was not ready, once all points are
   * measured.
   */
  private Optional<String> firstErrors() {
    if (!tasks.stream().allMatch(task -> records.has(task, 1))) {
      return Optional.empty();
    }
    return Optional.of(
        experiment.series().stream()
            .map(series -> series.name() + ": " + firstError(series))
            .collect(Collectors.joining("; ", "Receiver not ready: ", ".")));
  }

  private String firstError(Series series) {
    return series.samples().stream()
        .filter(sample -> hasOverrun(sample.task()))
        .findFirst()
        .map(sample ->
            sample.x() <= Catalogue.NO_PAUSE
                ? "even if it spends no time with a message"
                : "if it spends " + experiment.x().format(sample.x()) + " with each message")
        .orElse("never");
  }

  /** Returns whether any round ended in the error; such rounds have no rate. */
  private boolean hasOverrun(Task task) {
    return records.values(task, Metric.MESSAGES.name()).size()
        < records.values(task, Catalogue.SENT).size();
  }

  private Optional<String> receives() {
    long measured = tasks.stream().filter(task -> records.has(task, 1)).count();
    int failures = tasks.stream().mapToInt(records::failures).sum();
    if (measured < tasks.size() && failures == 0) { // incomplete
      return Optional.empty();
    }
    double lost = tasks.stream().mapToDouble(this::withoutReceive).sum();
    if (failures > 0 || lost > 0) {
      return Optional.of(
          "FAILED: points failed %s times; messages without a receive: %s"
              .formatted(failures, Numbers.plain(lost)));
    }
    String points = measured + " of " + tasks.size() + " points were measured at the first attempt";
    return Optional.of(
        hasCounts()
            ? "Passed: " + points + ", and every message found a receive posted."
            : "Passed, without RNR counters: "
                + points
                + "; no device counts messages without a receive.");
  }

  private double withoutReceive(Task task) {
    return records.values(task, Catalogue.RNR).stream().mapToDouble(Double::doubleValue).sum();
  }

  private boolean hasCounts() {
    return tasks.stream().anyMatch(task -> !records.values(task, Catalogue.RNR).isEmpty());
  }

  private List<Plot.Curve> curves() {
    List<Plot.Curve> curves = new ArrayList<>();
    Map<List<Plot.Dot>, Integer> models =
        new LinkedHashMap<>(); // by dots: the index of their curve
    for (Series series : experiment.series()) {
      List<Plot.Dot> measured = series.samples().stream().flatMap(at -> dot(series, at)).toList();
      List<Plot.Dot> predicted =
          isNear(series)
              ? series.samples().stream().flatMap(at -> predictedDot(series, at)).toList()
              : List.of();
      if (!measured.isEmpty()) {
        curves.add(new Plot.Curve(series.name(), series.colour(), series.style(), measured));
      }
      if (!measured.isEmpty() && !predicted.isEmpty()) {
        Integer same = models.putIfAbsent(predicted, curves.size());
        if (same == null) {
          String name = "model: " + series.name();
          curves.add(new Plot.Curve(name, series.colour(), Plot.Style.MODEL, predicted));
        } else {
          Plot.Curve line = curves.get(same);
          String names = line.name() + "; " + series.name();
          curves.set(same, new Plot.Curve(names, line.colour(), line.style(), line.dots()));
        }
      }
    }
    return curves;
  }

  /** Returns the median of the rounds and their range; nothing if they are of another placement. */
  private Stream<Plot.Dot> dot(Series series, Series.Sample sample) {
    OptionalDouble value = records.median(sample.task(), series.metric());
    if (value.isEmpty() || !records.isAt(records.placement(sample.task()), sample.task())) {
      return Stream.empty();
    }
    double median = value.getAsDouble();
    DoubleSummaryStatistics rounds =
        records.values(sample.task(), series.metric()).stream()
            .collect(Collectors.summarizingDouble(Double::doubleValue));
    double low = Math.min(median, rounds.getMin());
    return Stream.of(new Plot.Dot(sample.x(), median, low, Math.max(median, rounds.getMax())));
  }

  private Stream<Plot.Dot> predictedDot(Series series, Series.Sample sample) {
    return prediction(series, sample).stream().mapToObj(value -> new Plot.Dot(sample.x(), value));
  }

  private OptionalDouble prediction(Series series, Series.Sample sample) {
    Optional<Concurrency> concurrency = sample.task().concurrency();
    return series.model() != Series.Model.NONE && fit.isPresent() && concurrency.isPresent()
        ? OptionalDouble.of(series.metric().predicted(fit.get().model(), concurrency.get()))
        : OptionalDouble.empty();
  }

  /**
   * Returns the factor by which the model is off at the points of a curve, as the root mean square;
   * 1 if there is nothing to compare.
   */
  private double error(Series series) {
    double squares = 0;
    int points = 0;
    for (Series.Sample sample : series.samples()) {
      OptionalDouble measured = records.median(sample.task(), series.metric());
      OptionalDouble predicted = prediction(series, sample);
      if (measured.orElse(0) > 0 && predicted.orElse(0) > 0) {
        squares += Math.pow(Math.log(predicted.getAsDouble() / measured.getAsDouble()), 2);
        points++;
      }
    }
    return points == 0 ? 1 : Math.exp(Math.sqrt(squares / points));
  }

  private boolean isNear(Series series) {
    return error(series) <= MODEL_LIMIT;
  }

  /** Returns a note about curves whose model is too far off to be drawn. */
  private Optional<String> undrawn() {
    List<String> names =
        experiment.series().stream()
            .filter(series -> !isNear(series))
            .map(series -> series.name() + " (a factor of " + Numbers.plain(error(series)) + ")")
            .toList();
    return names.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "The model is not shown where it is off by more than a factor of %s: %s."
                .formatted(Numbers.plain(MODEL_LIMIT), String.join(", ", names)));
  }

  private Table table() {
    boolean modelled =
        fit.isPresent()
            && experiment.series().stream().anyMatch(one -> one.model() != Series.Model.NONE);
    boolean counted = hasCounts();
    boolean lined = tasks.stream().anyMatch(task -> records.lineNanos(task).isPresent());
    List<String> header =
        new ArrayList<>(
            List.of("series", experiment.x().label(), "measured", "figure", "max/min (rounds)"));
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
    for (Series series : experiment.series()) {
      for (Series.Sample sample : series.samples()) {
        OptionalDouble value = records.median(sample.task(), series.metric());
        if (value.isEmpty()) {
          continue;
        }
        List<String> row = new ArrayList<>();
        row.add(series.name());
        row.add(experiment.x().format(sample.x()));
        row.add(series.metric().format(value.getAsDouble()));
        row.add(series.metric().label());
        row.add(spread(series, sample.task()));
        if (counted) {
          boolean unknown = records.values(sample.task(), Catalogue.RNR).isEmpty();
          row.add(unknown ? "not counted" : Numbers.plain(withoutReceive(sample.task())));
        }
        if (lined) {
          row.add(records.lineNanos(sample.task()).map(Numbers::nanos).orElse("–"));
        }
        if (modelled) {
          row.addAll(modelCells(series, sample, value.getAsDouble()));
        }
        table.row(row);
      }
    }
    return table;
  }

  private String spread(Series series, Task task) {
    OptionalDouble spread = records.spread(task, series.metric());
    int rounds = records.values(task, series.metric()).size();
    return spread.isPresent()
        ? Numbers.plain(spread.getAsDouble()) + " (" + rounds + ")"
        : "one round";
  }

  private List<String> modelCells(Series series, Series.Sample sample, double measured) {
    OptionalDouble predicted = prediction(series, sample);
    if (predicted.isEmpty() || !isNear(series)) {
      return List.of("", "", "");
    }
    boolean latency = series.metric().kind() == Metric.Kind.NANOS;
    Concurrency concurrency = sample.task().concurrency().orElseThrow();
    return List.of(
        series.metric().format(predicted.getAsDouble()),
        Numbers.error(predicted.getAsDouble() / measured),
        Bottlenecks.text(fit.orElseThrow(), concurrency, latency));
  }

  /** Returns the ratios of the provider's medians to those of its competitors. */
  private Table ratios() {
    String provider = experiment.provider();
    List<Series> others = new ArrayList<>(experiment.series());
    List<Series> ours = others.stream().filter(one -> one.name().equals(provider)).toList();
    others.removeAll(ours);
    List<String> header = new ArrayList<>(List.of(experiment.x().label()));
    others.forEach(other -> header.add(provider + " / " + other.name()));
    boolean less = ours.stream().anyMatch(one -> one.metric().kind() == Metric.Kind.NANOS);
    Table table =
        new Table(
            "The ratio of the median of %s to that of each competitor (%s 1: %s is faster)"
                .formatted(provider, less ? "below" : "above", provider),
            header);
    for (Series series : ours) {
      for (int i = 0; i < series.samples().size(); i++) {
        Series.Sample sample = series.samples().get(i);
        List<String> row = new ArrayList<>(List.of(experiment.x().format(sample.x())));
        for (Series other : others) {
          OptionalDouble ratio =
              records.ratio(sample.task(), other.samples().get(i).task(), series.metric().name());
          row.add(ratio.isEmpty() ? "" : String.format(Locale.ROOT, "%.3g", ratio.getAsDouble()));
        }
        if (row.stream().skip(1).anyMatch(cell -> !cell.isEmpty())) {
          table.row(row);
        }
      }
    }
    return table;
  }
}
