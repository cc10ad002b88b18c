// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import java.io.PrintStream;
import java.util.OptionalInt;
import java.util.function.Supplier;

/**
 * A status line on the standard error stream, if that is a terminal. It is drawn by the thread that
 * shows it: a thread for it would take a processor from threads that spin.
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

  /** Creates a line on a terminal of that width; without one, nothing is shown. */
  StatusLine(PrintStream terminal, OptionalInt width) {
    this.terminal = terminal;
    this.width = width;
  }

  /**
   * {@return the line of this process; invisible if the standard error stream is not a terminal}
   */
  public static StatusLine onTerminal() {
    return ON_TERMINAL;
  }

  /** {@return whether the line is visible: false if the standard error stream is not a terminal} */
  public boolean isShown() {
    return width.isPresent();
  }

  /**
   * Replaces the text, unless it was replaced a moment ago.
   *
   * @param text a few words; cut off at the width of the terminal
   */
  public void show(String text) {
    show(() -> text);
  }

  /**
   * Replaces the text, unless it was replaced a moment ago.
   *
   * @param words returns the text, if it is shown
   */
  public synchronized void show(Supplier<String> words) {
    long now = System.nanoTime();
    if (width.isEmpty() || shown && now - shownNanos < LEAST_NANOS) {
      return;
    }
    String text = words.get();
    int room = Math.max(0, width.getAsInt() - 1); // the last column would start another line
    terminal.print(ERASE + (text.length() > room ? text.substring(0, room) : text));
    terminal.flush();
    shownNanos = now;
    shown = true;
  }

  /** Clears the line for other output. */
  public synchronized void clear() {
    if (shown) {
      terminal.print(ERASE);
      terminal.flush();
      shown = false;
    }
  }
}
