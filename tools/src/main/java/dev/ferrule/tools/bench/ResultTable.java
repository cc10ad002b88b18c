// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.tools.support.TextTable;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.Set;

/**
 * Formats results as a table. A ratio is the quotient of two columns beside it, which its name
 * gives. A dash is a value that was not measured, or not by enough messages.
 */
public final class ResultTable {

  private static final String NOTHING = "-";
  private static final double KILO = 1e3;
  private static final double MEGA = 1e6;
  private static final double GIGA = 1e9;

  /** The calls that the server times if messages pass in one direction. */
  private static final Set<String> OF_SERVER = Set.of("receive", "free");

  private ResultTable() {}

  /**
   * Formats results of one command as a table.
   *
   * @param results the results, at least one
   * @return lines, each terminated by a newline
   */
  public static String format(List<Result> results) {
    Result first = results.get(0);
    TextTable table = new TextTable();
    if (first.rma() != null) {
      rma(table, results);
    } else if (first.latency() == null) {
      bandwidth(table, results);
    } else {
      latency(table, results);
    }
    return table.toString();
  }

  private static void latency(TextTable table, List<Result> results) {
    Result first = results.get(0);
    boolean calls = first.call() != null;
    boolean floor = first.floor().lineNanos().isPresent();
    boolean oneWay = first.command().equals(Result.ONE_WAY_CALLS);
    table.cellIf(calls, "call");
    table.cellIf(oneWay, "at the");
    table.cells("bytes", "messages", "min ns", "p50");
    table.cellIf(!floor, "p90"); // with a floor the table would become too wide
    table.cells("p99", "p99.9", "max");
    table.cellIf(!floor, "mean");
    table.cellIf(floor, "line ns");
    table.cellIf(floor, "ring ns");
    table.cellIf(floor, "p50 / line");
    table.cellIf(floor, "p50 / ring");
    table.endRow();
    for (Result result : results) {
      LatencySummary latency = Objects.requireNonNull(result.latency());
      table.cellIf(calls, String.valueOf(result.call()));
      table.cellIf(oneWay, OF_SERVER.contains(String.valueOf(result.call())) ? "server" : "client");
      table.cells(
          String.valueOf(result.sizeBytes()),
          String.valueOf(result.messages()),
          nanos(latency.min()),
          nanos(latency.p50()));
      table.cellIf(!floor, nanos(latency.p90()));
      table.cells(nanos(latency.p99()), nanos(latency.p999()), nanos(latency.max()));
      table.cellIf(!floor, nanos(latency.mean()));
      table.cellIf(floor, nanos(result.floor().lineNanos().orElse(Double.NaN)));
      table.cellIf(floor, nanos(result.floor().ringNanos().orElse(Double.NaN)));
      table.cellIf(floor, ratio(result.floorRatio()));
      table.cellIf(floor, ratio(result.ringRatio()));
      table.endRow();
    }
  }

  private static void rma(TextTable table, List<Result> results) {
    table.cells("path", "rma", "bytes", "operations", "min ns", "p50", "p99", "max", "bytes/s");
    table.cells("floor", "floor bytes/s", "rate / floor");
    table.endRow();
    for (Result result : results) {
      LatencySummary latency = Objects.requireNonNull(result.latency());
      Result.RmaFigures figures = Objects.requireNonNull(result.rma());
      table.cells(
          figures.path(),
          String.valueOf(result.call()),
          String.valueOf(result.sizeBytes()),
          String.valueOf(result.messages()),
          nanos(latency.min()),
          nanos(latency.p50()),
          nanos(latency.p99()),
          nanos(latency.max()),
          scaled(result.bytesPerSecond().orElse(0)),
          figures.floor(),
          scaled(figures.floorBytesPerSecond()),
          ratio(result.floorRatio()));
      table.endRow();
    }
  }

  private static void bandwidth(TextTable table, List<Result> results) {
    boolean floor = results.get(0).floor().lineNanos().isPresent();
    boolean memcpy = results.stream().anyMatch(result -> result.memcpyBytesPerSecond().isPresent());
    table.cells("bytes", "messages", "messages/s", "bytes/s");
    table.cellIf(memcpy, "memcpy B/s");
    table.cellIf(memcpy, "rate / memcpy");
    table.cellIf(floor, "line ns");
    table.cellIf(floor, "ring M/s");
    table.cellIf(floor, "rate / ring");
    table.endRow();
    for (Result result : results) {
      double rate = result.bytesPerSecond().orElse(0);
      OptionalDouble copies = result.memcpyBytesPerSecond();
      table.cells(
          String.valueOf(result.sizeBytes()),
          String.valueOf(result.messages()),
          scaled(result.messagesPerSecond().orElse(0)),
          scaled(rate));
      table.cellIf(memcpy, copies.isPresent() ? scaled(copies.getAsDouble()) : "");
      table.cellIf(memcpy, copies.isPresent() ? ratio(result.memcpyRatio()) : "");
      table.cellIf(floor, nanos(result.floor().lineNanos().orElse(Double.NaN)));
      table.cellIf(floor, millions(result.floor().ringMessagesPerSecond()));
      table.cellIf(floor, ratio(result.ringRatio()));
      table.endRow();
    }
  }

  private static String nanos(double nanos) {
    if (Double.isNaN(nanos)) {
      return NOTHING;
    }
    return String.format(Locale.ROOT, nanos < KILO ? "%.1f" : "%.0f", nanos);
  }

  private static String ratio(OptionalDouble ratio) {
    return ratio.isPresent() ? String.format(Locale.ROOT, "%.2f", ratio.getAsDouble()) : NOTHING;
  }

  private static String millions(OptionalDouble rate) {
    return rate.isPresent()
        ? String.format(Locale.ROOT, "%.2f", rate.getAsDouble() / MEGA)
        : NOTHING;
  }

  private static String scaled(double value) {
    if (value >= GIGA) {
      return String.format(Locale.ROOT, "%.2f G", value / GIGA);
    }
    return value >= MEGA
        ? String.format(Locale.ROOT, "%.2f M", value / MEGA)
        : String.format(Locale.ROOT, "%.2f k", value / KILO);
  }
}
