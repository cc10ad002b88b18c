// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.tools.bench.Interval;
import dev.ferrule.tools.bench.IntervalTable;
import dev.ferrule.tools.bench.Observer;
import dev.ferrule.tools.bench.Result;
import dev.ferrule.tools.support.StatusLine;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The results of a measurement so far. Shows the progress on a terminal, and writes the results if
 * a signal ends the process. For that, the caller registers this object with {@code Guarded}.
 */
final class PartialResults implements Observer, AutoCloseable {

  private static final long MIN_INTERVAL_NANOS = 200_000_000;

  private final String command;
  private final StatusLine status;
  private final BiConsumer<String, List<Result>> writer;
  private final long intervalNanos;
  private final Consumer<String> lines;
  private boolean headed;
  private long summarizedNanos = System.nanoTime() - MIN_INTERVAL_NANOS;
  private String stage = ""; // guarded by this, as are the results
  private List<Result> results = List.of();

  /**
   * Creates an instance without results. If the process ends, the writer receives the last stage
   * and the results, which are empty if no round is complete.
   *
   * @param intervalNanos the length of the intervals to show; {@link Observer#NO_INTERVALS} for
   *     none
   * @param lines receives the text of each interval
   */
  PartialResults(
      String command,
      StatusLine status,
      BiConsumer<String, List<Result>> writer,
      long intervalNanos,
      Consumer<String> lines) {
    this.intervalNanos = intervalNanos;
    this.lines = lines;
    this.command = command;
    this.status = status;
    this.writer = writer;
  }

  /** Called between rounds. Summarizes the results too rarely to affect the next round. */
  @Override
  public void progress(String stage, Supplier<List<Result>> soFar) {
    if (System.nanoTime() - summarizedNanos >= MIN_INTERVAL_NANOS) {
      List<Result> sums = soFar.get();
      if (!sums.isEmpty()) {
        keep(stage, sums);
        summarizedNanos = System.nanoTime();
      }
    }
    setStage(stage);
    status.show(command + ": " + stage);
  }

  @Override
  public long intervalNanos() {
    return intervalNanos;
  }

  @Override
  public void interval(Interval interval) {
    print((headed ? "" : IntervalTable.heading(interval)) + IntervalTable.line(interval));
    headed = true;
  }

  @Override
  public void sum(Interval sum) {
    print(IntervalTable.sum(sum));
  }

  private void print(String text) {
    status.clear();
    lines.accept(text);
  }

  /** Sets the stage while there are no results. Results keep the stage that they include. */
  private synchronized void setStage(String newStage) {
    if (results.isEmpty()) {
      stage = newStage;
    }
  }

  private synchronized void keep(String newStage, List<Result> newResults) {
    stage = newStage;
    results = newResults;
  }

  /** Writes the results so far if the measurement has begun; called when the process ends. */
  @Override
  public synchronized void close() {
    status.clear();
    if (!stage.isEmpty()) {
      writer.accept(stage, results);
    }
  }
}
