// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import java.io.PrintStream;
import java.util.OptionalInt;

/**
 * One line on the standard error stream that says what is being done, if that is a terminal. It is
 * drawn by the thread that shows it: a thread for it would take a processor from threads that spin.
 */
public final class StatusLine {

  private static final long LEAST_NANOS = 100_000_000;
  private static final String ERASE = "\r\033[K";
  private static final StatusLine ON_TERMINAL =
      new StatusLine(System.err, Terminal.width(Terminal.STANDARD_ERROR));

  private final PrintStream terminal;
  private final OptionalInt width;
  private long shownNanos; // guarded by this, as is the next
  private boolean shown;

  /**
   * Creates a line.
   *
   * @param terminal where to
   * @param width how wide that is; empty if it is no terminal, so that nothing is shown
   */
  StatusLine(PrintStream terminal, OptionalInt width) {
    this.terminal = terminal;
    this.width = width;
  }

  /**
   * Returns the line of this process.
   *
   * @return the line; it shows nothing if the standard error stream is not a terminal
   */
  public static StatusLine onTerminal() {
    return ON_TERMINAL;
  }

  /**
   * Returns whether anything is shown.
   *
   * @return false if the standard error stream is not a terminal
   */
  public boolean isShown() {
    return width.isPresent();
  }

  /**
   * Shows a text in place of the last one, unless that was just shown.
   *
   * @param text a few words; cut off where the terminal ends
   */
  public synchronized void show(String text) {
    long now = System.nanoTime();
    if (width.isEmpty() || shown && now - shownNanos < LEAST_NANOS) {
      return;
    }
    int room = Math.max(0, width.getAsInt() - 1); // the last column would begin another line
    terminal.print(ERASE + (text.length() > room ? text.substring(0, room) : text));
    terminal.flush();
    shownNanos = now;
    shown = true;
  }

  /** Removes the line, for other text to be written there. */
  public synchronized void clear() {
    if (shown) {
      terminal.print(ERASE);
      terminal.flush();
      shown = false;
    }
  }
}
