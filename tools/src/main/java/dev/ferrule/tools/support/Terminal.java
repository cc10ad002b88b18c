// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import dev.ferrule.posix.Posix;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;

/** The terminal, if any, of the process's standard streams. */
public final class Terminal {

  /** The file descriptor of the standard output stream. */
  public static final int STANDARD_OUTPUT = 1;

  /** The file descriptor of the standard error stream. */
  public static final int STANDARD_ERROR = 2;

  private static final long TIOCGWINSZ = 0x5413;
  private static final int DEFAULT_WIDTH = 80;

  private static final int LEAST_TEXT_WIDTH = 55; // picocli's minimum
  private static final int MOST_TEXT_WIDTH = 100;

  private Terminal() {}

  /**
   * {@return the width for text: that of the terminal, up to a limit for readability. In a pipe, to
   * a pager, that is the terminal of the standard error stream}
   */
  public static int textWidth() {
    OptionalInt output = width(STANDARD_OUTPUT);
    OptionalInt any = output.isPresent() ? output : width(STANDARD_ERROR);
    return Math.clamp(any.orElse(DEFAULT_WIDTH), LEAST_TEXT_WIDTH, MOST_TEXT_WIDTH);
  }

  /**
   * {@return whether text on the standard output stream may have colours: false if that is not a
   * terminal, or the user has disabled them}
   */
  public static boolean hasColours() {
    // Since JDK 22 there is a System.console() without a terminal, which picocli checks.
    return width(STANDARD_OUTPUT).isPresent()
        && System.getenv("NO_COLOR") == null
        && !"dumb".equals(System.getenv("TERM"));
  }

  /**
   * {@return whether a stream of this process is known to be a pipe or a socket, so that writing
   * fails only if the reader has gone}
   *
   * @param descriptor the stream's file descriptor
   */
  public static boolean isPipe(int descriptor) {
    try {
      String target =
          Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).getFileName().toString();
      return target.startsWith("pipe:") || target.startsWith("socket:");
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * {@return the width of the terminal of a file descriptor, in columns; empty if it is none}
   *
   * @param descriptor the file descriptor
   */
  public static OptionalInt width(int descriptor) {
    if (isPipe(descriptor)) {
      return OptionalInt.empty(); // known without linking a C function, which takes longer
    }
    try (Arena arena = Arena.ofConfined()) {
      // struct winsize: rows, columns, and two unused fields; 16 bits each
      MemorySegment size = arena.allocate(ValueLayout.JAVA_SHORT, 4);
      if (Posix.ioctl(descriptor, TIOCGWINSZ, size) != 0) {
        return OptionalInt.empty();
      }
      int columns = Short.toUnsignedInt(size.getAtIndex(ValueLayout.JAVA_SHORT, 1));
      return OptionalInt.of(columns == 0 ? DEFAULT_WIDTH : columns);
    }
  }
}
