// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import java.util.OptionalInt;
import java.util.OptionalLong;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/**
 * A progress bar of the bytes sent, on the standard error stream, if that is a terminal. The
 * library draws it in a thread of its own; {@link StepProgress} needs none.
 */
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
   * @param task the name of the task
   * @param total the number of bytes; empty if unknown
   * @return the bar; invisible if the standard error stream is not a terminal
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
            .build());
  }

  /** {@return an invisible progress bar} */
  public static Progress none() {
    return new Progress(null);
  }

  /**
   * Advances the bar.
   *
   * @param amount the number of further bytes sent
   */
  public void advance(long amount) {
    if (bar != null) {
      bar.stepBy(amount);
    }
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
  }
}
