// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import java.util.Locale;
import java.util.function.Consumer;

/**
 * Shows the progress of many steps: in the status line if there is a terminal, otherwise by a line
 * for each completed step. The calling thread draws it, since another thread would disturb the
 * steps, which are measurements.
 */
public final class StepProgress implements AutoCloseable {

  private static final double NANOS_PER_SECOND = 1e9;
  private static final int SECONDS_PER_MINUTE = 60;

  private final StatusLine status;
  private final Consumer<String> log;
  private final String task;
  private final long total;
  private final long first;
  private final long startNanos = System.nanoTime();
  private long done;
  private String step = "";

  StepProgress(StatusLine status, Consumer<String> log, String task, long total, long done) {
    this.status = status;
    this.log = log;
    this.task = task;
    this.total = total;
    this.first = done;
    this.done = done;
  }

  /**
   * Starts the progress on the standard error stream.
   *
   * @param task the name of the task
   * @param total the number of steps
   * @param done the number of steps that were done earlier
   * @param log receives a line for each step if the standard error stream is not a terminal
   * @return the progress
   */
  public static StepProgress of(String task, long total, long done, Consumer<String> log) {
    return new StepProgress(StatusLine.onTerminal(), log, task, total, done);
  }

  /**
   * Shows the step that begins.
   *
   * @param name a few words
   */
  public void begin(String name) {
    step = name;
    status.show(text());
  }

  /** Completes the current step. */
  public void finish() {
    done++;
    if (!status.isShown()) {
      log.accept(text());
    }
  }

  /** Returns the text with the remaining time, extrapolated from the steps so far. */
  private String text() {
    double seconds = (System.nanoTime() - startNanos) / NANOS_PER_SECOND;
    String left =
        done == first || done == total
            ? ""
            : ", " + time(Math.round(seconds / (done - first) * (total - done))) + " left";
    return task + ": " + done + " of " + total + left + ": " + step;
  }

  private static String time(long seconds) {
    return String.format(
        Locale.ROOT, "%d:%02d", seconds / SECONDS_PER_MINUTE, seconds % SECONDS_PER_MINUTE);
  }

  @Override
  public void close() {
    status.clear();
  }
}
