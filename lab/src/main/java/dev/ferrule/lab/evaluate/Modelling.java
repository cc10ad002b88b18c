// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import dev.ferrule.lab.model.Concurrency;
import dev.ferrule.lab.model.Estimate;
import dev.ferrule.lab.model.Fit;
import dev.ferrule.lab.model.FitResult;
import dev.ferrule.lab.model.LackOfFit;
import dev.ferrule.lab.model.Load;
import dev.ferrule.lab.model.Observation;
import dev.ferrule.lab.model.Parameter;
import dev.ferrule.lab.model.ParameterFile;
import dev.ferrule.lab.model.SecondSlope;
import dev.ferrule.lab.model.TimedCall;
import dev.ferrule.lab.report.Section;
import dev.ferrule.lab.report.Table;
import dev.ferrule.tools.bench.Medians;
import dev.ferrule.tools.report.Numbers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Fits the model of each provider to the measurements, and reports the quality of the fit. */
final class Modelling {

  private static final double NANOS_PER_SECOND = 1e9;
  private static final double ENOUGH = 2.0 / 3;
  private static final Placement EVERYWHERE = new Placement(List.of());
  private static final String CALLS = "calls";
  private static final Map<Parameter, String> CALL_OF =
      Map.of(
          Parameter.SEND_OVERHEAD, "send_mid_ns",
          Parameter.RECEIVE_OVERHEAD, "receive_mid_ns",
          Parameter.RECEIVE_GAP, "free_mid_ns");
  private static final String CLOCK = "clock_mid_ns";
  private static final String TICK = "clock_step_ns";
  private static final String CALLS_ELSEWHERE =
      "The calls were timed in another placement, so that they are not used: o_snd, o_rcv and g_rcv"
          + " are fitted, too.";

  private final List<Experiment> experiments;
  private final Records records;
  private final Set<String> acknowledged;
  private final boolean complete;
  private final Map<String, FitResult> models = new LinkedHashMap<>(); // by provider
  private final Map<String, String> notes = new HashMap<>(); // on the placement, by provider
  private final Map<String, List<LackOfFit.Point>> fitted = new HashMap<>(); // by provider

  /**
   * Fits the models of the providers {@code modelled}; compares them with others if all is measured
   * ({@code complete}), as that takes seconds.
   */
  Modelling(
      List<Experiment> experiments,
      Records records,
      Set<String> modelled,
      Set<String> acknowledged,
      boolean complete) {
    this.complete = complete;
    this.experiments = experiments;
    this.records = records;
    this.acknowledged = acknowledged;
    for (String provider : modelled) {
      fit(provider);
    }
  }

  /**
   * Fits to the rounds of one placement, if it has most of the points: mixed placements fit no
   * model.
   */
  private void fit(String provider) {
    List<Task> tasks =
        modelled(provider)
            .flatMap(series -> series.samples().stream())
            .map(Series.Sample::task)
            .toList();
    Placement place = records.placement(tasks);
    List<LackOfFit.Point> all = measured(provider, EVERYWHERE);
    List<LackOfFit.Point> here = measured(provider, place);
    boolean enough = here.size() >= ENOUGH * all.size();
    Optional<FitResult> fit = enough ? fit(provider, here, place) : Optional.empty();
    if (fit.isEmpty()) {
      here = all;
      fit = fit(provider, all, EVERYWHERE);
      place
          .note()
          .ifPresent(note ->
              notes.put(
                  provider,
                  "The processors were migrated, and no placement has enough points for a"
                      + " model. This model mixes placements and is not reliable."));
    } else {
      place.note().ifPresent(note -> notes.put(provider, note));
      if (calls(provider, place).isEmpty() && !calls(provider, EVERYWHERE).isEmpty()) {
        notes.merge(provider, CALLS_ELSEWHERE, (one, other) -> one + " " + other);
      }
    }
    fitted.put(provider, here);
    fit.ifPresent(found -> models.put(provider, found));
  }

  private Optional<FitResult> fit(String provider, List<LackOfFit.Point> points, Placement place) {
    return Fit.of(observations(points), calls(provider, place), acknowledged.contains(provider));
  }

  private static List<Observation> observations(List<LackOfFit.Point> points) {
    return points.stream().map(LackOfFit.Point::observation).toList();
  }

  /** Returns the fitted models by provider. */
  Map<String, FitResult> models() {
    return models;
  }

  private List<Experiment> of(String provider) {
    return experiments.stream()
        .filter(experiment -> experiment.provider().equals(provider))
        .toList();
  }

  private Stream<Series> modelled(String provider) {
    return of(provider).stream()
        .flatMap(experiment -> experiment.series().stream())
        .filter(series -> series.model() == Series.Model.FITTED);
  }

  private List<LackOfFit.Point> measured(String provider, Placement place) {
    List<LackOfFit.Point> points = new ArrayList<>();
    for (Experiment experiment : of(provider)) {
      for (Series series : experiment.series()) {
        if (series.model() == Series.Model.FITTED) {
          for (Series.Sample sample : series.samples()) {
            measured(experiment.id(), series.metric(), sample.task(), place).ifPresent(points::add);
          }
        }
      }
    }
    return points;
  }

  private Optional<LackOfFit.Point> measured(
      String experiment, Metric metric, Task task, Placement place) {
    List<Double> rounds =
        records.values(task, metric.name(), place).stream().filter(each -> each > 0).toList();
    double value = Medians.of(rounds).orElse(0);
    if (value <= 0 || task.concurrency().isEmpty() || !task.concurrency().get().isUndisturbed()) {
      return Optional.empty();
    }
    Load load = task.concurrency().get().load();
    Observation observation =
        switch (metric.kind()) {
          case NANOS -> new Observation(Observation.Kind.LATENCY, load, value);
          case MESSAGE_RATE ->
              new Observation(Observation.Kind.PERIOD, load, NANOS_PER_SECOND / value);
          case BYTE_RATE ->
              new Observation(
                  Observation.Kind.PERIOD, load, NANOS_PER_SECOND * load.sizeBytes() / value);
          case NUMBER -> throw new IllegalArgumentException("no model of " + metric.label());
        };
    return Optional.of(new LackOfFit.Point(experiment, observation, rounds));
  }

  /** Returns the point of calls on the shortest messages: those on longer ones include copying. */
  private Optional<Task> shortestCall(String provider) {
    return of(provider).stream()
        .filter(experiment -> experiment.id().equals(CALLS))
        .map(experiment -> experiment.series().get(0).samples().get(0).task())
        .findFirst();
  }

  private List<TimedCall> calls(String provider, Placement place) {
    List<TimedCall> calls = new ArrayList<>();
    shortestCall(provider)
        .ifPresent(shortest -> {
          double clock = Medians.of(records.values(shortest, CLOCK, place)).orElse(0);
          double tick = Medians.of(records.values(shortest, TICK, place)).orElse(0);
          CALL_OF.forEach((parameter, metric) -> {
            List<Double> nanos =
                records.values(shortest, metric, place).stream()
                    .map(value -> Math.max(0, value - clock))
                    .toList();
            if (!nanos.isEmpty()) {
              calls.add(new TimedCall(parameter, nanos, tick));
            }
          });
        });
    return calls;
  }

  private String note(String provider, FitResult fit) {
    String off =
        String.format(
            Locale.ROOT,
            "the predictions for the measured points are off by a factor of %.2f",
            Math.exp(fit.relativeError()));
    if (isFar(fit)) {
      off += ", too much for other predictions";
    }
    return notes.containsKey(provider) ? off + ". " + notes.get(provider) : off;
  }

  private static boolean isFar(FitResult fit) {
    return Math.exp(fit.relativeError()) > ExperimentSection.MODEL_LIMIT;
  }

  /** Returns the contents of the parameter file. */
  List<ParameterFile.Entry> entries() {
    List<ParameterFile.Entry> entries = new ArrayList<>();
    models.forEach((provider, fit) ->
        entries.add(
            new ParameterFile.Entry(
                provider, acknowledged.contains(provider), fit.estimates(), note(provider, fit))));
    return entries;
  }

  /** Returns a section of the report for each model. */
  List<Section> sections() {
    List<Section> sections = new ArrayList<>();
    models.forEach((provider, fit) -> sections.add(section(provider, fit)));
    return sections;
  }

  private Section section(String provider, FitResult fit) {
    Table parameters =
        new Table(
            "Parameters",
            List.of("parameter", "value", "unit", "95 % interval", "source", "meaning"));
    for (Parameter parameter : Parameter.values()) {
      Estimate estimate = fit.estimates().get(parameter);
      if (estimate != null) {
        parameters.row(row(estimate));
      }
    }
    List<String> notes = new ArrayList<>(fit.notes());
    if (this.notes.containsKey(provider)) {
      notes.add(0, this.notes.get(provider));
    }
    if (isFar(fit)) {
      notes.add(
          0,
          "The predictions of this model for the measured points are off by more than a factor of "
              + Numbers.plain(ExperimentSection.MODEL_LIMIT)
              + ". Its parameters are not reliable.");
    }
    notes.add(
        LackOfFit.of(points(provider), fit)
            .map(LackOfFit::text)
            .orElse(
                "Whether the noise explains the deviations of the model was not tested: that takes"
                    + " two rounds, and more points than fitted parameters."));
    if (complete && acknowledged.contains(provider)) { // cards send packets
      notes.add(
          SecondSlope.of(observations(points(provider)), fit)
              .map(SecondSlope::text)
              .orElse(
                  "a second G for the bytes beyond the MTU was not looked for: that takes three"
                      + " sizes on either side of one, as without --quick"));
    }
    List<String> missing = missing(provider);
    if (!missing.isEmpty()) {
      notes.add(
          "The model lacks "
              + String.join(", ", missing)
              + ", which was excluded by --only, or could not be measured: its parameters are"
              + " less certain than possible.");
    }
    for (Estimate estimate : fit.estimates().values()) {
      if (estimate.source() == Estimate.Source.AT_MOST
          || estimate.source() == Estimate.Source.AT_LEAST) {
        notes.add(
            estimate.parameter().symbol() + " is " + bound(estimate) + ": " + estimate.note());
      }
    }
    return new Section(
        provider + "-model",
        provider + ": the model",
        "The latency is the sum of the times of a message's stages; the bandwidth is the minimum"
            + " over the stages, since the slowest sets the pace. Calls that could be timed were"
            + " measured; the other parameters are those that explain all modelled points best"
            + " (least squares of the logarithms). Predictions are off by a factor of "
            + String.format(Locale.ROOT, "%.2f", Math.exp(fit.relativeError()))
            + " (root mean square of the logarithms). See the columns model, error and bottleneck"
            + " of the other sections.",
        List.of(),
        List.of(parameters, predictions(provider, fit)),
        notes);
  }

  /** Returns the experiments that a model needs, but that have no results. */
  private List<String> missing(String provider) {
    return of(provider).stream()
        .filter(experiment -> experiment.obstacle().isEmpty())
        .filter(experiment ->
            experiment.id().equals(CALLS)
                || experiment.series().stream()
                    .anyMatch(series -> series.model() == Series.Model.FITTED))
        .filter(experiment -> experiment.tasks().stream().noneMatch(task -> records.has(task, 1)))
        .map(Experiment::id)
        .toList();
  }

  private static String bound(Estimate estimate) {
    return estimate.source() == Estimate.Source.AT_MOST
        ? "≤ " + Numbers.plain(estimate.high().orElse(estimate.value()))
        : "≥ " + Numbers.plain(estimate.low().orElse(estimate.value()));
  }

  private static List<String> row(Estimate estimate) {
    boolean within =
        estimate.source() != Estimate.Source.AT_MOST
            && estimate.low().isPresent()
            && estimate.high().isPresent();
    String value = Numbers.plain(estimate.value());
    return List.of(
        estimate.parameter().symbol(),
        switch (estimate.source()) {
          case AT_MOST, AT_LEAST -> bound(estimate);
          case TOGETHER, UNDETERMINED -> "(" + value + ")";
          default -> value;
        },
        estimate.parameter().unit(),
        within
            ? Numbers.plain(estimate.low().getAsDouble())
                + " to "
                + Numbers.plain(estimate.high().getAsDouble())
            : "–",
        switch (estimate.source()) {
          case MEASURED ->
              estimate.note().isEmpty() ? "measured" : "measured (" + estimate.note() + ")";
          case FITTED -> "fitted";
          case TOGETHER -> "only in combination";
          case UNDETERMINED -> "undetermined";
          case AT_MOST, AT_LEAST -> "bound";
          case GIVEN -> "given";
        },
        estimate.parameter().meaning());
  }

  /** Returns what the provider's model was fitted to. */
  private List<LackOfFit.Point> points(String provider) {
    return Objects.requireNonNull(fitted.get(provider));
  }

  private Table predictions(String provider, FitResult fit) {
    Table table =
        new Table(
            "Prediction and measurement",
            List.of(
                "what", "bytes", "unacked", "batch", "measured", "model", "error", "bottleneck"));
    for (Observation observation : observations(points(provider))) {
      Load load = observation.load();
      boolean latency = observation.kind() == Observation.Kind.LATENCY;
      double predicted = observation.predictedBy(fit.model());
      table.row(
          List.of(
              latency ? "latency" : "time per message",
              String.valueOf(load.sizeBytes()),
              latency ? "" : String.valueOf(load.unacked()),
              latency ? "" : String.valueOf(load.batch()),
              Numbers.nanos(observation.nanos()),
              Numbers.nanos(predicted),
              Numbers.error(predicted / observation.nanos()),
              Bottlenecks.text(fit, Concurrency.of(load), latency)));
    }
    return table;
  }
}
