// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import dev.ferrule.lab.compare.competitor.Competitor;
import dev.ferrule.lab.compare.competitor.Measure;
import dev.ferrule.lab.compare.transport.TransportsUnderTest;
import dev.ferrule.lab.evaluate.Experiment;
import dev.ferrule.lab.evaluate.Series;
import dev.ferrule.tools.report.Axis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The comparisons for {@code ferrule evaluate --peers}: one of Ferrule's transports compared with
 * others, in a plot of all, and a table of ratios.
 */
public final class PeerExperiments {

  private PeerExperiments() {}

  /** Returns the experiments; none if there is nothing to compare that transport with. */
  public static List<Experiment> of(String scheme, boolean quick) {
    return Arrays.stream(ComparedProvider.values())
        .filter(provider -> provider.ours().equals(scheme))
        .flatMap(provider ->
            provider.measures().stream()
                .map(measure -> of(provider, measure, Schedule.usual(quick))))
        .toList();
  }

  static Experiment of(ComparedProvider provider, Measure measure, Schedule schedule) {
    Optional<Competitor> floor =
        provider.competitors().stream()
            .filter(competitor -> competitor.name().equals(TransportsUnderTest.FLOOR))
            .findFirst();
    List<Series> series = new ArrayList<>();
    List<String> versions = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    for (Competitor competitor : provider.competitors()) {
      Optional<String> reason = competitor.missing();
      if (!competitor.takesPart(measure)) {
        continue;
      }
      if (reason.isPresent()) {
        missing.add(competitor.name() + ": " + reason.get());
        continue;
      }
      String version = competitor.version();
      versions.add(competitor.name() + " (" + version + ")");
      List<Series.Sample> samples = new ArrayList<>();
      for (int size : schedule.sizesBytes(measure)) {
        RunningCompetitor.Setting setting = new RunningCompetitor.Setting(measure, size);
        samples.add(
            new Series.Sample(
                size,
                new PeerTask(provider.ours(), competitor, version, floor, setting, schedule)));
      }
      series.add(
          Series.measured(competitor.name(), series.size(), PeerTask.metric(measure), samples));
    }
    return new Experiment(
        PeerTask.experiment(measure),
        provider.ours(),
        title(measure),
        describe(measure)
            + " Each competitor runs in two processes (jctools in one), and the rounds of all"
            + " are interleaved. The same loops measure all but ucx and perftest, which"
            + " measure themselves and report medians of single messages, not of groups of 16."
            + " Versions: "
            + String.join("; ", versions)
            + ".",
        Axis.logarithmic("message size (bytes)", Axis.Unit.BYTES),
        measure.isTime()
            ? Axis.logarithmic("one-way latency (time)", Axis.Unit.NANOS)
            : Axis.logarithmic("rate (messages/s)", Axis.Unit.RATE),
        Optional.empty(),
        series,
        Optional.of(missing));
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
      return "Half of the round-trip time of a message and its echo, with one message in flight.";
    }
    if (measure == Measure.WAKE_UP) {
      return "The time from a send to the return of the receive that it wakes up, after the receive was"
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
}
