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
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The model of a provider, fitted to its measurements, and the quality of the fit. */
final class ProviderModel {

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
      "The calls were timed in another placement and are not used: o_snd, o_rcv and g_rcv are"
          + " fitted, too.";

  private final String provider;
  private final List<Experiment> experiments;
  private final Records records;
  private final boolean acknowledged;
  private final List<LackOfFit.Point> points;
  private final Optional<FitResult> fit;
  private final List<String> placementNotes = new ArrayList<>();

  /**
   * Fits the model to the rounds of one placement, if they cover two thirds of the points: no model
   * fits rounds of different placements. Otherwise fits it to all rounds.
   */
  private ProviderModel(
      String provider, List<Experiment> experiments, Records records, boolean acknowledged) {
    this.provider = provider;
    this.experiments = experiments;
    this.records = records;
    this.acknowledged = acknowledged;
    Placement place =
        records.placement(
            experiments.stream()
                .flatMap(experiment -> experiment.series().stream())
                .filter(series -> series.model() == Series.Model.FITTED)
                .flatMap(series -> series.samples().stream())
                .map(Series.Sample::task)
                .toList());
    List<LackOfFit.Point> all = measured(EVERYWHERE);
    List<LackOfFit.Point> here = measured(place);
    boolean enough = here.size() >= ENOUGH * all.size();
    Optional<FitResult> ofPlace = enough ? fit(here, place) : Optional.empty();
    if (ofPlace.isPresent()) {
      points = here;
      fit = ofPlace;
      place.note().ifPresent(placementNotes::add);
      if (calls(place).isEmpty() && !calls(EVERYWHERE).isEmpty()) {
        placementNotes.add(CALLS_ELSEWHERE);
      }
    } else {
      points = all;
      fit = fit(all, EVERYWHERE);
      if (place.note().isPresent()) {
        placementNotes.add(
            "The processors were migrated, and no placement has enough points for a model. This"
                + " model mixes placements and is not reliable.");
      }
    }
  }

  /** Fits the model; returns nothing if there are too few measurements. */
  static Optional<ProviderModel> of(
      String provider, List<Experiment> experiments, Records records, boolean acknowledged) {
    List<Experiment> own =
        experiments.stream().filter(one -> one.provider().equals(provider)).toList();
    ProviderModel model = new ProviderModel(provider, own, records, acknowledged);
    return model.fit.isPresent() ? Optional.of(model) : Optional.empty();
  }

  String provider() {
    return provider;
  }

  FitResult fit() {
    return fit.orElseThrow();
  }

  private Optional<FitResult> fit(List<LackOfFit.Point> some, Placement place) {
    return Fit.of(observations(some), calls(place), acknowledged);
  }

  private static List<Observation> observations(List<LackOfFit.Point> points) {
    return points.stream().map(LackOfFit.Point::observation).toList();
  }

  private List<LackOfFit.Point> measured(Placement place) {
    List<LackOfFit.Point> found = new ArrayList<>();
    for (Experiment experiment : experiments) {
      for (Series series : experiment.series()) {
        if (series.model() == Series.Model.FITTED) {
          for (Series.Sample sample : series.samples()) {
            measured(experiment.id(), series.metric(), sample.task(), place).ifPresent(found::add);
          }
        }
      }
    }
    return found;
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

  /**
   * Returns the timed calls of the shortest messages: the calls for longer ones include copying.
   */
  private List<TimedCall> calls(Placement place) {
    List<TimedCall> calls = new ArrayList<>();
    experiments.stream()
        .filter(experiment -> experiment.id().equals(CALLS))
        .map(experiment -> experiment.series().get(0).samples().get(0).task())
        .forEach(shortest -> {
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

  /** Returns the factor by which the predictions for the measured points are off. */
  private double error() {
    return Math.exp(fit().relativeError());
  }

  private boolean isFar() {
    return error() > ExperimentSection.MODEL_LIMIT;
  }

  /** Returns the entry of the parameter file. */
  ParameterFile.Entry entry() {
    String off =
        String.format(
            Locale.ROOT,
            "the predictions for the measured points are off by a factor of %.2f%s",
            error(),
            isFar() ? ", too much for other predictions" : "");
    String note = placementNotes.isEmpty() ? off : off + ". " + String.join(" ", placementNotes);
    return new ParameterFile.Entry(provider, acknowledged, fit().estimates(), note);
  }

  /**
   * Returns a section of the report. If all is measured ({@code complete}), the model is also
   * compared with one with a second slope, which takes seconds.
   */
  Section section(boolean complete) {
    FitResult fit = fit();
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
    List<String> notes = new ArrayList<>();
    if (isFar()) {
      notes.add(
          "The predictions of this model for the measured points are off by more than a factor of "
              + Numbers.plain(ExperimentSection.MODEL_LIMIT)
              + ". Its parameters are not reliable.");
    }
    if (!placementNotes.isEmpty()) {
      notes.add(String.join(" ", placementNotes));
    }
    notes.addAll(fit.notes());
    notes.add(
        LackOfFit.of(points, fit)
            .map(LackOfFit::text)
            .orElse(
                "It was not tested whether the noise explains the deviations of the model: the test"
                    + " needs two rounds, and more points than fitted parameters."));
    if (complete && acknowledged) { // cards send packets
      notes.add(
          SecondSlope.of(observations(points), fit)
              .map(SecondSlope::text)
              .orElse(
                  "a second G for the bytes beyond the MTU was not tested: the test needs three"
                      + " sizes on either side of an MTU, as measured without --quick"));
    }
    List<String> missing = missing();
    if (!missing.isEmpty()) {
      notes.add(
          "The model lacks "
              + String.join(", ", missing)
              + ", excluded by --only or not measurable: its parameters are less certain than they"
              + " could be.");
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
            + String.format(Locale.ROOT, "%.2f", error())
            + " (root mean square of the logarithms). See the columns model, error and bottleneck"
            + " of the other sections.",
        List.of(),
        List.of(parameters, predictions(fit)),
        notes);
  }

  /** Returns the experiments that a model needs, but that have no results. */
  private List<String> missing() {
    return experiments.stream()
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

  private Table predictions(FitResult fit) {
    Table table =
        new Table(
            "Prediction and measurement",
            List.of(
                "what", "bytes", "unacked", "batch", "measured", "model", "error", "bottleneck"));
    for (Observation observation : observations(points)) {
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
