// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.tools.support.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * Formats results as a table. A ratio is the quotient of the two columns that its name contains. A
 * dash is a value that was not measured, or for which there were too few messages.
 */
public final class ResultTable {

  private static final String NOTHING = "-";
  private static final double KILO = 1e3;
  private static final double MEGA = 1e6;
  private static final double GIGA = 1e9;

  /** The calls that the server times if messages go in one direction. */
  private static final Set<String> OF_SERVER = Set.of("receive", "free");

  private final List<Column> columns = new ArrayList<>();

  private ResultTable() {}

  private record Column(String name, Function<Result, String> cell) {}

  /**
   * {@return results of one command as lines of a table, each terminated by a newline}
   *
   * @param results the results, at least one
   */
  public static String format(List<Result> results) {
    Result first = results.get(0);
    ResultTable table = new ResultTable();
    if (first.rma() != null) {
      table.rma();
    } else if (first.latency() == null) {
      boolean memcpy =
          results.stream().anyMatch(result -> result.memcpyBytesPerSecond().isPresent());
      table.bandwidth(memcpy, first.floor().lineNanos().isPresent());
    } else {
      table.latency(first);
    }
    TextTable text = new TextTable();
    table.columns.forEach(column -> text.cells(column.name));
    text.endRow();
    for (Result result : results) {
      table.columns.forEach(column -> text.cells(column.cell.apply(result)));
      text.endRow();
    }
    return text.toString();
  }

  private void latency(Result first) {
    boolean floor = first.floor().lineNanos().isPresent();
    addIf(first.call() != null, "call", result -> String.valueOf(result.call()));
    addIf(
        first.command().equals(Result.ONE_WAY_CALLS),
        "at the",
        result -> OF_SERVER.contains(String.valueOf(result.call())) ? "server" : "client");
    addSizeAnd("messages");
    nanos("min ns", LatencySummary::min);
    nanos("p50", LatencySummary::p50);
    if (!floor) { // with a floor the table would become too wide
      nanos("p90", LatencySummary::p90);
    }
    nanos("p99", LatencySummary::p99);
    nanos("p99.9", LatencySummary::p999);
    nanos("max", LatencySummary::max);
    if (!floor) {
      nanos("mean", LatencySummary::mean);
    }
    addIf(floor, "line ns", result -> nanos(result.floor().lineNanos()));
    addIf(floor, "ring ns", result -> nanos(result.floor().ringNanos()));
    addIf(floor, "p50 / line", result -> ratio(result.floorRatio()));
    addIf(floor, "p50 / ring", result -> ratio(result.ringRatio()));
  }

  private void rma() {
    add("path", result -> figures(result).path());
    add("rma", result -> String.valueOf(result.call()));
    addSizeAnd("operations");
    nanos("min ns", LatencySummary::min);
    nanos("p50", LatencySummary::p50);
    nanos("p99", LatencySummary::p99);
    nanos("max", LatencySummary::max);
    add("bytes/s", result -> scaled(result.bytesPerSecond()));
    add("floor", result -> figures(result).floor());
    add("floor bytes/s", result -> scaled(figures(result).floorBytesPerSecond()));
    add("rate / floor", result -> ratio(result.floorRatio()));
  }

  private static Result.RmaFigures figures(Result result) {
    return Objects.requireNonNull(result.rma());
  }

  private void bandwidth(boolean memcpy, boolean floor) {
    addSizeAnd("messages");
    add("messages/s", result -> scaled(result.messagesPerSecond()));
    add("bytes/s", result -> scaled(result.bytesPerSecond()));
    addIf(memcpy, "memcpy B/s", result -> scaled(result.memcpyBytesPerSecond()));
    addIf(
        memcpy,
        "rate / memcpy",
        result -> result.memcpyRatio().isPresent() ? ratio(result.memcpyRatio()) : "");
    addIf(floor, "line ns", result -> nanos(result.floor().lineNanos()));
    addIf(floor, "ring M/s", result -> millions(result.floor().ringMessagesPerSecond()));
    addIf(floor, "rate / ring", result -> ratio(result.ringRatio()));
  }

  private void add(String name, Function<Result, String> cell) {
    columns.add(new Column(name, cell));
  }

  private void addIf(boolean wanted, String name, Function<Result, String> cell) {
    if (wanted) {
      add(name, cell);
    }
  }

  private void addSizeAnd(String messages) {
    add("bytes", result -> String.valueOf(result.sizeBytes()));
    add(messages, result -> String.valueOf(result.messages()));
  }

  private void nanos(String name, ToDoubleFunction<LatencySummary> time) {
    add(name, result -> nanos(time.applyAsDouble(Objects.requireNonNull(result.latency()))));
  }

  private static String nanos(OptionalDouble nanos) {
    return nanos(nanos.orElse(Double.NaN));
  }

  static String nanos(double nanos) {
    return Double.isNaN(nanos)
        ? NOTHING
        : String.format(Locale.ROOT, nanos < KILO ? "%.1f" : "%.0f", nanos);
  }

  private static String ratio(OptionalDouble ratio) {
    return ratio.isPresent() ? String.format(Locale.ROOT, "%.2f", ratio.getAsDouble()) : NOTHING;
  }

  private static String millions(OptionalDouble rate) {
    return ratio(Medians.ratio(rate, OptionalDouble.of(MEGA)));
  }

  private static String scaled(OptionalDouble value) {
    return value.isPresent() ? scaled(value.getAsDouble()) : "";
  }

  static String scaled(double value) {
    if (value >= GIGA) {
      return String.format(Locale.ROOT, "%.2f G", value / GIGA);
    }
    return value >= MEGA
        ? String.format(Locale.ROOT, "%.2f M", value / MEGA)
        : String.format(Locale.ROOT, "%.2f k", value / KILO);
  }
}
