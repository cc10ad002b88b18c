// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import java.io.PrintStream;
import java.util.OptionalInt;
import java.util.function.Supplier;

/**
 * A status line on the standard error stream, if that is a terminal. The calling thread draws it,
 * since a separate thread would take a processor from spinning threads.
 */
public final class StatusLine {

  private static final long MIN_INTERVAL_NANOS = 100_000_000;
  private static final String ERASE = "\r\033[K";
  private static final StatusLine ON_TERMINAL =
      new StatusLine(System.err, Terminal.width(Terminal.STANDARD_ERROR));

  private final PrintStream terminal;
  private final OptionalInt width;
  private long shownNanos; // guarded by this, as is shown
  private boolean shown;

  /** Creates a line on a terminal of the given width. If the width is empty, nothing is shown. */
  StatusLine(PrintStream terminal, OptionalInt width) {
    this.terminal = terminal;
    this.width = width;
  }

  /** {@return the status line of this process; invisible if standard error is not a terminal} */
  public static StatusLine onTerminal() {
    return ON_TERMINAL;
  }

  /** {@return whether the line is visible: false if the standard error stream is not a terminal} */
  public boolean isShown() {
    return width.isPresent();
  }

  /**
   * Replaces the text, unless it was replaced less than 100 ms ago.
   *
   * @param text a few words; cut off at the width of the terminal
   */
  public void show(String text) {
    show(() -> text);
  }

  /**
   * Replaces the text, unless it was replaced less than 100 ms ago.
   *
   * @param words returns the text, if it is shown
   */
  public synchronized void show(Supplier<String> words) {
    long now = System.nanoTime();
    if (width.isEmpty() || shown && now - shownNanos < MIN_INTERVAL_NANOS) {
      return;
    }
    String text = words.get();
    int room = Math.max(0, width.getAsInt() - 1); // a full line could wrap
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
