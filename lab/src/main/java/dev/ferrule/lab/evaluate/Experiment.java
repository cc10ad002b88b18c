// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import dev.ferrule.lab.model.FitResult;
import dev.ferrule.lab.report.Section;
import dev.ferrule.tools.report.Axis;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;

/**
 * An experiment: its points, and the presentation of the results as a plot of several curves and a
 * table.
 *
 * @param id the id for {@code --only}, a short word that is the same for all providers
 * @param provider the scheme of the provider measured
 * @param title the title in the report and for {@code --list}
 * @param text what is measured, and how
 * @param obstacle why it cannot be measured on this machine; empty if it can
 * @param missingPeers if the experiment compares competitors, the curve with the provider's name
 *     with the others: those that could not be measured, and why
 */
public record Experiment(
    String id,
    String provider,
    String title,
    String text,
    Axis x,
    Axis y,
    Optional<String> obstacle,
    List<Series> series,
    Optional<List<String>> missingPeers) {

  /** Creates an experiment without competitors. */
  Experiment(
      String id,
      String provider,
      String title,
      String text,
      Axis x,
      Axis y,
      Optional<String> obstacle,
      List<Series> series) {
    this(id, provider, title, text, x, y, obstacle, series, Optional.empty());
  }

  /** Returns the points. Each round measures all of them once, in this order. */
  public List<Task> tasks() {
    // points to be compared are measured close together, unless that needs repeated set-up
    Map<Object, Set<Task>> bySetup = new LinkedHashMap<>();
    int longest = series.stream().mapToInt(one -> one.samples().size()).max().orElse(0);
    for (int i = 0; i < longest; i++) {
      for (Series one : series) {
        if (i < one.samples().size()) {
          Task task = one.samples().get(i).task();
          bySetup.computeIfAbsent(task.setup(), setup -> new LinkedHashSet<>()).add(task);
        }
      }
    }
    return bySetup.values().stream().flatMap(Set::stream).toList();
  }

  /** Returns why there is nothing to show; empty if any point was measured, or has failed. */
  Optional<String> leftOut(Records records) {
    boolean tried =
        tasks().stream().anyMatch(task -> records.isMeasured(task) || records.failures(task) > 0);
    return obstacle.isPresent() || tried
        ? obstacle
        : Optional.of("not measured yet, or excluded by --only");
  }

  /** Returns the spread of the rounds at each point that has several. */
  List<Double> spreads(Records records) {
    return series.stream()
        .filter(Series::isMeasured)
        .flatMap(one -> one.samples().stream().map(at -> records.spread(at.task(), one.metric())))
        .filter(OptionalDouble::isPresent)
        .map(OptionalDouble::getAsDouble)
        .toList();
  }

  /**
   * Returns the report's section about the measurements so far, which may be incomplete. {@code
   * models} are those fitted to them, by provider.
   */
  Section section(Records records, Map<String, FitResult> models) {
    return new ExperimentSection(this, records, Optional.ofNullable(models.get(provider)))
        .section();
  }
}
