// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import dev.ferrule.lab.compare.competitor.Measure;
import dev.ferrule.tools.support.TextTable;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.Function;

/**
 * Formats a comparison as text: a few tables for each measure, with a row per size and a column per
 * competitor.
 */
final class ComparisonTable {

  private static final String NOTHING = "-";
  private static final double MILLION = 1e6;

  private final Comparison comparison;
  private final StringBuilder text = new StringBuilder();

  private ComparisonTable(Comparison comparison) {
    this.comparison = comparison;
  }

  static String format(Comparison comparison) {
    return new ComparisonTable(comparison).format();
  }

  private String format() {
    String ours = comparison.ours();
    for (Comparison.CompetitorInfo info : comparison.competitors()) {
      line(
          info.name()
              + ": "
              + (info.missing().isEmpty() ? info.version() : "not measured: " + info.missing()));
    }
    line(
        "load average %s before, %s after; medians of the rounds in each placement, of %s rounds in total"
            .formatted(
                load(comparison.loadBefore()), load(comparison.loadAfter()), comparison.rounds()));
    for (Measure measure : Measure.values()) {
      if (measure.isTime()) {
        table(measure, "ns (p99)", ComparisonTable::latency);
        table(measure, "median / median of the floor", figure -> ratio(figure.ofFloor()));
      } else {
        table(
            measure, "million messages per second", figure -> digits(figure.value() / MILLION, 2));
      }
      table(
          measure,
          "median of %s / median of the competitor (%s 1: %s is faster)"
              .formatted(ours, measure.isTime() ? "below" : "above", ours),
          figure -> ratio(figure.oursToIt()));
    }
    return text.toString();
  }

  private void table(Measure measure, String what, Function<Figure, String> cell) {
    List<Figure> figures =
        comparison.figures().stream().filter(figure -> figure.measure() == measure).toList();
    if (figures.stream().map(cell).allMatch(NOTHING::equals)) {
      return; // such as ratios without a floor
    }
    List<String> names = figures.stream().map(Figure::competitor).distinct().toList();
    boolean lines =
        figures.stream().anyMatch(figure -> figure.lineNanos().isPresent() || figure.moved());
    TextTable table = new TextTable();
    table.cells("bytes");
    if (lines) {
      table.cells("line ns", "rounds");
    }
    names.forEach(table::cells);
    table.endRow();
    for (Row row : figures.stream().map(Row::of).distinct().toList()) {
      table.cells(Integer.toString(row.sizeBytes()));
      if (lines) {
        table.cells(
            row.lineNanos().isPresent() ? digits(row.lineNanos().getAsDouble(), 0) : "moved",
            Integer.toString(row.rounds()));
      }
      for (String name : names) {
        table.cells(
            figures.stream()
                .filter(figure -> Row.of(figure).equals(row) && figure.competitor().equals(name))
                .map(cell)
                .findFirst()
                .orElse(NOTHING));
      }
      table.endRow();
    }
    line("");
    line(measure.title() + ": " + what);
    text.append(table);
  }

  /** The figures of the same rounds. */
  private record Row(int sizeBytes, OptionalDouble lineNanos, int rounds) {
    static Row of(Figure figure) {
      return new Row(figure.sizeBytes(), figure.lineNanos(), figure.rounds());
    }
  }

  private void line(String line) {
    text.append(line).append('\n');
  }

  private static String latency(Figure figure) {
    String median = digits(figure.value(), 0);
    return figure.p99Nanos().isPresent()
        ? median + " (" + digits(figure.p99Nanos().getAsDouble(), 0) + ")"
        : median;
  }

  private static String ratio(OptionalDouble ratio) {
    if (ratio.isEmpty()) {
      return NOTHING;
    }
    return digits(ratio.getAsDouble(), ratio.getAsDouble() < 0.1 ? 4 : 2);
  }

  private static String load(OptionalDouble load) {
    return load.isPresent() ? digits(load.getAsDouble(), 2) : "unknown";
  }

  private static String digits(double value, int count) {
    return String.format(Locale.ROOT, "%." + count + "f", value);
  }
}
