// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.tools.bench.Observer;
import dev.ferrule.tools.bench.Result;
import dev.ferrule.tools.support.StatusLine;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * What a measurement has come to so far: on a terminal a line says how far it is, and what was
 * measured is written if a signal ends the process. To be guarded, so that it is closed then.
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
   * Creates them without a result.
   *
   * @param command what is measured
   * @param status where to say how far it is
   * @param writer receives, if the process ends, the stage that was reached, and the results; none
   *     if it ends before the first round does
   */
  PartialResults(String command, StatusLine status, BiConsumer<String, List<Result>> writer) {
    this.command = command;
    this.status = status;
    this.writer = writer;
  }

  /** Between rounds, and seldom enough not to matter to the next. */
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

  /** Without results, the stage is the one being worked on. */
  private synchronized void reach(String reached) {
    if (results.isEmpty()) {
      stage = reached;
    }
  }

  private synchronized void keep(String reached, List<Result> sums) {
    stage = reached;
    results = sums;
  }

  /** Writes what was measured, once the measurement has begun; for the end of the process. */
  @Override
  public synchronized void close() {
    status.clear();
    if (!stage.isEmpty()) {
      writer.accept(stage, results);
    }
  }
}
