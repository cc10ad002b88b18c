// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import java.time.Duration;
import java.util.OptionalInt;
import java.util.OptionalLong;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/** A progress bar on the standard error stream, if that is a terminal. */
public final class Progress implements AutoCloseable {

  private static final long MEBIBYTE = 1 << 20;
  private static final int UPDATE_MILLIS = 200;

  private final @Nullable ProgressBar bar;

  private Progress(@Nullable ProgressBar bar) {
    this.bar = bar;
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
        builder(task, total.orElse(-1), width.getAsInt())
            .setUnit(" MiB", MEBIBYTE)
            .showSpeed()
            .build());
  }

  /**
   * Starts a progress bar for things that are done one after the other.
   *
   * @param task what is done
   * @param total how many of them there are
   * @param done how many of them were done before
   * @return the bar; nothing is shown if the standard error stream is not a terminal
   */
  public static Progress ofSteps(String task, long total, long done) {
    OptionalInt width = Terminal.width(Terminal.STANDARD_ERROR);
    if (width.isEmpty()) {
      return none();
    }
    return new Progress(
        builder(task, total, width.getAsInt()).startsFrom(done, Duration.ZERO).build());
  }

  private static ProgressBarBuilder builder(String task, long total, int width) {
    return new ProgressBarBuilder()
        .setTaskName(task)
        .setInitialMax(total)
        .setStyle(ProgressBarStyle.ASCII)
        .setUpdateIntervalMillis(UPDATE_MILLIS)
        .setConsumer(new ConsoleProgressBarConsumer(System.err, width - 1));
  }

  /**
   * Returns a progress bar that shows nothing.
   *
   * @return the bar
   */
  public static Progress none() {
    return new Progress(null);
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
  }

  /**
   * Shows what is being done just now.
   *
   * @param text a few words
   */
  public void show(String text) {
    if (bar != null) {
      bar.setExtraMessage(text);
    }
  }

  /**
   * Tells whether anybody sees this.
   *
   * @return false if nothing is shown
   */
  public boolean isShown() {
    return bar != null;
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
  }
}
