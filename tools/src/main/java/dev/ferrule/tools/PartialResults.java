// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.tools.bench.Observer;
import dev.ferrule.tools.bench.Result;
import dev.ferrule.tools.support.StatusLine;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * The results of a measurement so far. Shows the progress on a terminal, and writes the results if
 * a signal ends the process; register it as guarded, so that it is closed then.
 */
final class PartialResults implements Observer, AutoCloseable {

  private static final long LEAST_NANOS = 200_000_000;

  private final String command;
  private final StatusLine status;
  private final BiConsumer<String, List<Result>> writer;
  private long summedUpNanos = System.nanoTime() - LEAST_NANOS;
  private String stage = ""; // guarded by this, as is the next
  private List<Result> results = List.of();

  /**
   * Creates an instance without results. If the process ends, the writer receives the stage reached
   * and the results, which are empty if no round has ended.
   */
  PartialResults(String command, StatusLine status, BiConsumer<String, List<Result>> writer) {
    this.command = command;
    this.status = status;
    this.writer = writer;
  }

  /** Called between rounds, too seldom to affect the next one. */
  @Override
  public void progress(String stage, Supplier<List<Result>> soFar) {
    if (System.nanoTime() - summedUpNanos >= LEAST_NANOS) {
      List<Result> sums = soFar.get();
      if (!sums.isEmpty()) {
        keep(stage, sums);
        summedUpNanos = System.nanoTime();
      }
    }
    reach(stage);
    status.show(command + ": " + stage);
  }

  /** Sets the stage reached; without results, the one in progress. */
  private synchronized void reach(String reached) {
    if (results.isEmpty()) {
      stage = reached;
    }
  }

  private synchronized void keep(String reached, List<Result> sums) {
    stage = reached;
    results = sums;
  }

  /** Writes the results so far, once the measurement has begun; called when the process ends. */
  @Override
  public synchronized void close() {
    status.clear();
    if (!stage.isEmpty()) {
      writer.accept(stage, results);
    }
  }
}
