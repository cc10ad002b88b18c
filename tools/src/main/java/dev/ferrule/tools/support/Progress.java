// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import java.util.Locale;
import java.util.OptionalInt;
import java.util.OptionalLong;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/**
 * How far something is, on the standard error stream, if that is a terminal: a bar for bytes, which
 * a thread of its own draws, and a line for steps, which are measurements that it must not disturb.
 */
public final class Progress implements AutoCloseable {

  private static final long MEBIBYTE = 1 << 20;
  private static final int UPDATE_MILLIS = 200;

  private static final double NANOS_PER_SECOND = 1e9;
  private static final int SECONDS_PER_MINUTE = 60;

  private final @Nullable ProgressBar bar;
  private final @Nullable Steps steps;

  private Progress(@Nullable ProgressBar bar, @Nullable Steps steps) {
    this.bar = bar;
    this.steps = steps;
  }

  /** Things that are done one after the other. */
  private static final class Steps {
    private final String task;
    private final long total;
    private final long first;
    private final long startNanos = System.nanoTime();
    private long done;

    private Steps(String task, long total, long done) {
      this.task = task;
      this.total = total;
      this.first = done;
      this.done = done;
    }

    /** With the time that the others take, if they take as long as those before. */
    private String text(String what) {
      double seconds = (System.nanoTime() - startNanos) / NANOS_PER_SECOND;
      String left =
          done == first
              ? ""
              : ", " + time(Math.round(seconds / (done - first) * (total - done))) + " left";
      return task + ": " + done + " of " + total + left + ": " + what;
    }

    private static String time(long seconds) {
      return String.format(
          Locale.ROOT, "%d:%02d", seconds / SECONDS_PER_MINUTE, seconds % SECONDS_PER_MINUTE);
    }
  }

  /**
   * Starts a progress bar.
   *
   * @param task what is done
   * @param total how many bytes there are; empty if nobody knows
   * @return the bar; nothing is shown if the standard error stream is not a terminal
   */
  public static Progress onTerminal(String task, OptionalLong total) {
    OptionalInt width = Terminal.width(Terminal.STANDARD_ERROR);
    if (width.isEmpty()) {
      return none();
    }
    return new Progress(
        new ProgressBarBuilder()
            .setTaskName(task)
            .setInitialMax(total.orElse(-1))
            .setStyle(ProgressBarStyle.ASCII)
            .setUpdateIntervalMillis(UPDATE_MILLIS)
            .setConsumer(new ConsoleProgressBarConsumer(System.err, width.getAsInt() - 1))
            .setUnit(" MiB", MEBIBYTE)
            .showSpeed()
            .build(),
        null);
  }

  /**
   * Starts a line for things that are done one after the other.
   *
   * @param task what is done
   * @param total how many of them there are
   * @param done how many of them were done before
   * @return the line; nothing is shown if the standard error stream is not a terminal
   */
  public static Progress ofSteps(String task, long total, long done) {
    return StatusLine.onTerminal().isShown()
        ? new Progress(null, new Steps(task, total, done))
        : none();
  }

  /**
   * Returns a progress bar that shows nothing.
   *
   * @return the bar
   */
  public static Progress none() {
    return new Progress(null, null);
  }

  /**
   * Moves on.
   *
   * @param amount how many more bytes were sent, or steps done
   */
  public void advance(long amount) {
    if (bar != null) {
      bar.stepBy(amount);
    }
    if (steps != null) {
      steps.done += amount;
    }
  }

  /**
   * Shows which step is being done.
   *
   * @param text a few words
   */
  public void show(String text) {
    if (steps != null) {
      StatusLine.onTerminal().show(steps.text(text));
    }
  }

  /**
   * Returns whether anything is shown.
   *
   * @return false if the standard error stream is not a terminal
   */
  public boolean isShown() {
    return bar != null || steps != null;
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
    if (steps != null) {
      StatusLine.onTerminal().clear();
    }
  }
}
