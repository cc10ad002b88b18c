// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.locks.LockSupport;

/**
 * The output of a command that shows a text again and again, until the key {@code q} or Ctrl-C. On
 * a terminal each text replaces the last one, cut to the terminal's size. Elsewhere the texts
 * follow each other, complete and without control characters.
 */
public final class Screen implements AutoCloseable {

  private static final String HOME = "\033[H";
  private static final String CLEAR = HOME + "\033[2J";
  private static final String ERASE_LINE = "\033[K";
  private static final String ERASE_BELOW = "\033[J";

  /** The number of lines where there is no limit. */
  private static final int UNLIMITED = Integer.MAX_VALUE;

  private final PrintWriter out;
  private final boolean terminal;
  private final Optional<TerminalKeys> keys;
  private boolean begun;

  private Screen(PrintWriter out, boolean terminal) {
    this.out = out;
    this.terminal = terminal;
    this.keys = terminal ? TerminalKeys.open() : Optional.empty();
  }

  /**
   * {@return a screen on standard output, to be closed}
   *
   * @param out standard output
   */
  public static Guarded<Screen> on(PrintWriter out) {
    return Guarded.of(new Screen(out, Terminal.canMoveCursor()));
  }

  /** {@return the maximum number of lines of a text} */
  public int height() {
    OptionalInt rows = terminal ? Terminal.height(Terminal.STANDARD_OUTPUT) : OptionalInt.empty();
    return rows.isPresent() ? Math.max(1, rows.getAsInt() - 1) : UNLIMITED;
  }

  /**
   * Shows a text.
   *
   * @param text complete lines
   */
  public void show(String text) {
    if (terminal) {
      int width = Terminal.width(Terminal.STANDARD_OUTPUT).orElse(UNLIMITED);
      out.print(begun ? HOME : CLEAR);
      text.lines()
          .limit(height())
          .forEach(line ->
              out.print(line.substring(0, Math.min(line.length(), width)) + ERASE_LINE + "\n"));
      out.print(ERASE_BELOW);
    } else {
      out.print((begun ? "\n" : "") + text);
    }
    begun = true;
    out.flush();
  }

  /**
   * Waits until the next text is due.
   *
   * @param time how long
   * @return whether to go on: false if the user has pressed q, or standard output has no reader
   */
  public boolean await(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    long left = time.toNanos();
    while (left > 0 && !out.checkError()) {
      if (keys.isEmpty()) {
        LockSupport.parkNanos(left);
      } else if (keys.get().await(left)) {
        int key = keys.get().read();
        if (key == 'q' || key < 0) {
          return false;
        }
      }
      left = end - System.nanoTime();
    }
    return !out.checkError();
  }

  /** Restores the terminal. */
  @Override
  public void close() {
    keys.ifPresent(TerminalKeys::close);
  }
}
