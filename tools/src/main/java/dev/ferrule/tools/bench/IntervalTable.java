// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.util.Locale;

/** Formats intervals as the lines of a table that grows: its columns have a fixed width. */
public final class IntervalTable {

  private IntervalTable() {}

  /**
   * {@return the line with the names of the columns, terminated by a newline}
   *
   * @param interval the first interval
   */
  public static String heading(Interval interval) {
    String common =
        call(interval, "rma")
            + String.format(
                "%15s %9s %10s %11s", "interval s", "bytes", counted(interval), "rate/s");
    return interval.latency() == null
        ? common + String.format(" %11s\n", "bytes/s")
        : common
            + String.format(
                " %9s %8s %8s %8s %8s %9s\n", "min ns", "p50", "p90", "p99", "p99.9", "max");
  }

  /**
   * {@return the line of an interval, terminated by a newline}
   *
   * @param interval the interval
   */
  public static String line(Interval interval) {
    return line(interval, "");
  }

  /**
   * {@return the line of the sum of all intervals of one size, terminated by a newline}
   *
   * @param sum the sum
   */
  public static String sum(Interval sum) {
    return line(sum, "  sum");
  }

  private static String line(Interval interval, String end) {
    String time =
        String.format(Locale.ROOT, "%.2f-%.2f", interval.startSeconds(), interval.endSeconds());
    String common =
        call(interval, String.valueOf(interval.call()))
            + String.format(
                "%15s %9d %10d %11s",
                time,
                interval.sizeBytes(),
                interval.messages(),
                ResultTable.scaled(interval.messagesPerSecond()));
    LatencySummary latency = interval.latency();
    return (latency == null
            ? common + String.format(" %11s", ResultTable.scaled(interval.bytesPerSecond()))
            : common
                + String.format(
                    " %9s %8s %8s %8s %8s %9s",
                    ResultTable.nanos(latency.min()),
                    ResultTable.nanos(latency.p50()),
                    ResultTable.nanos(latency.p90()),
                    ResultTable.nanos(latency.p99()),
                    ResultTable.nanos(latency.p999()),
                    ResultTable.nanos(latency.max())))
        + end
        + "\n";
  }

  private static String call(Interval interval, String text) {
    return interval.call() == null ? "" : String.format("%5s ", text);
  }

  private static String counted(Interval interval) {
    return interval.call() == null ? "messages" : "accesses";
  }
}
