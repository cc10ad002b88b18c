// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import dev.ferrule.lab.compare.competitor.Competitor;
import dev.ferrule.lab.compare.competitor.Measure;
import dev.ferrule.lab.compare.transport.TransportsUnderTest;
import dev.ferrule.lab.evaluate.Experiment;
import dev.ferrule.lab.evaluate.Metric;
import dev.ferrule.lab.evaluate.Models;
import dev.ferrule.lab.evaluate.Records;
import dev.ferrule.lab.evaluate.Series;
import dev.ferrule.lab.evaluate.SeriesExperiment;
import dev.ferrule.lab.evaluate.Task;
import dev.ferrule.lab.report.Section;
import dev.ferrule.lab.report.Table;
import dev.ferrule.tools.report.Axis;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * One of Ferrule's transports compared with others: a plot of all, and a table of ratios. Each
 * ratio is that of the two medians in the other table.
 */
final class PeerExperiment implements Experiment {

  private static final Axis SIZE = Axis.logarithmic("message size (bytes)", Axis.Unit.BYTES);

  private final String provider;
  private final Measure measure;
  private final List<Competitor> present;
  private final List<Competitor> missing;
  private final Map<String, String> versions = new LinkedHashMap<>(); // of those present, by name
  private final Schedule schedule;
  private final Optional<Competitor> floor;
  private final SeriesExperiment plain;

  PeerExperiment(ComparedProvider field, Measure measure, Schedule schedule) {
    this.provider = field.ours();
    this.measure = measure;
    this.schedule = schedule;
    this.floor =
        field.competitors().stream()
            .filter(competitor -> competitor.name().equals(TransportsUnderTest.FLOOR))
            .findFirst();
    List<Competitor> all =
        field.competitors().stream().filter(competitor -> competitor.takesPart(measure)).toList();
    this.present = all.stream().filter(competitor -> competitor.missing().isEmpty()).toList();
    this.missing = all.stream().filter(competitor -> competitor.missing().isPresent()).toList();
    present.forEach(competitor -> versions.put(competitor.name(), competitor.version()));
    this.plain =
        new SeriesExperiment(
            id(measure),
            provider,
            title(measure),
            describe(measure)
                + " Each competitor runs in two processes (jctools in one), and the rounds of all"
                + " are interleaved. The same loops measure all but ucx and perftest, whose"
                + " programs measure themselves, with medians of single messages, not of groups"
                + " of 16: "
                + versions.entrySet().stream()
                    .map(entry -> entry.getKey() + " (" + entry.getValue() + ")")
                    .collect(Collectors.joining("; "))
                + ".",
            SIZE,
            measure.isTime()
                ? Axis.logarithmic("one-way latency (time)", Axis.Unit.NANOS)
                : Axis.logarithmic("rate (messages/s)", Axis.Unit.RATE),
            Optional.empty(),
            IntStream.range(0, present.size()).mapToObj(this::series).toList());
  }

  static String id(Measure measure) {
    return "peers-" + measure;
  }

  private static String title(Measure measure) {
    return switch (measure) {
      case LATENCY -> "latency compared with others, over message size";
      case RATE -> "rate compared with others, over message size";
      default -> measure.title() + ", compared with others";
    };
  }

  private static String describe(Measure measure) {
    if (measure == Measure.LATENCY) {
      return "Half of the round-trip time of a message and its echo, one message in flight.";
    }
    if (measure == Measure.WAKE_UP) {
      return "The time from a send to the return of the receive that it wakes up, after it was"
          + " blocked for "
          + TimeUnit.NANOSECONDS.toMicros(Measure.BLOCKED_NANOS)
          + " µs.";
    }
    String rate = "Messages are sent as fast as possible; the time ends when the last has arrived.";
    if (measure.batch() > 1) {
      return rate
          + " They are sent in batches; agrona, aeron and ucx have no call for batches and send"
          + " single messages.";
    }
    return measure.senders() > 1
        ? rate + " The sending threads share the processors other than the receiver's."
        : rate;
  }

  static Metric metric(Measure measure) {
    return measure.isTime() ? Metric.P50 : Metric.MESSAGES;
  }

  private Series series(int index) {
    Competitor competitor = present.get(index);
    return Series.measured(
        competitor.name(),
        index,
        metric(measure),
        schedule.sizesBytes(measure).stream()
            .map(size -> new Series.Sample(size, task(competitor, size)))
            .toList());
  }

  private Task task(Competitor competitor, int size) {
    return new PeerTask(
        provider,
        competitor,
        Objects.requireNonNull(versions.get(competitor.name())),
        floor,
        new RunningCompetitor.Setting(measure, size),
        schedule);
  }

  @Override
  public String id() {
    return plain.id();
  }

  @Override
  public String provider() {
    return provider;
  }

  @Override
  public String title() {
    return plain.title();
  }

  @Override
  public Optional<String> obstacle() {
    return Optional.empty();
  }

  @Override
  public List<Task> tasks() {
    return plain.tasks();
  }

  @Override
  public Section section(Records records, Models models) {
    Section section = plain.section(records, models);
    List<Table> tables = new ArrayList<>(section.tables());
    Table ratios = ratios(records);
    if (!ratios.rows().isEmpty()) {
      tables.add(ratios);
    }
    List<String> notes = new ArrayList<>(section.notes());
    for (Competitor competitor : missing) {
      notes.add("Not measured: " + competitor.name() + ": " + competitor.missing().orElseThrow());
    }
    return new Section(
        section.id(), section.title(), section.text(), section.plots(), tables, notes);
  }

  private Table ratios(Records records) {
    List<String> header = new ArrayList<>(List.of(SIZE.label()));
    List<Competitor> others =
        present.stream().filter(competitor -> !competitor.name().equals(provider)).toList();
    others.forEach(competitor -> header.add(provider + " / " + competitor.name()));
    Table table =
        new Table(
            measure.isTime()
                ? "The median of "
                    + provider
                    + " over each other's median (below 1: "
                    + provider
                    + " is faster)"
                : "The median of "
                    + provider
                    + " over each other's median (above 1: "
                    + provider
                    + " is faster)",
            header);
    for (int size : schedule.sizesBytes(measure)) {
      List<String> row = new ArrayList<>(List.of(SIZE.format(size)));
      others.forEach(competitor -> row.add(ratio(records, competitor, size)));
      if (row.stream().skip(1).anyMatch(cell -> !cell.isEmpty())) {
        table.row(row);
      }
    }
    return table;
  }

  private String ratio(Records records, Competitor other, int size) {
    Optional<Competitor> ours =
        present.stream().filter(competitor -> competitor.name().equals(provider)).findFirst();
    if (ours.isEmpty()) {
      return "";
    }
    OptionalDouble ratio =
        records.ratio(task(ours.get(), size), task(other, size), metric(measure).name());
    return ratio.isPresent() ? String.format(Locale.ROOT, "%.3g", ratio.getAsDouble()) : "";
  }
}
