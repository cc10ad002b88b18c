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

/** Properties of the process's standard streams, such as the width of their terminal. */
public final class Terminal {

  /** The file descriptor of the standard output stream. */
  public static final int STANDARD_OUTPUT = 1;

  /** The file descriptor of the standard error stream. */
  public static final int STANDARD_ERROR = 2;

  private static final long TIOCGWINSZ = 0x5413;
  private static final int DEFAULT_WIDTH = 80;
  private static final int DEFAULT_HEIGHT = 24;

  private static final int MIN_TEXT_WIDTH = 55; // picocli's minimum
  private static final int MAX_TEXT_WIDTH = 100;

  private Terminal() {}

  /**
   * {@return the width for text: the width of the terminal, up to a limit for readability. If
   * standard output is a pipe, for example to a pager, that is the terminal of standard error}
   */
  public static int textWidth() {
    OptionalInt output = width(STANDARD_OUTPUT);
    OptionalInt any = output.isPresent() ? output : width(STANDARD_ERROR);
    return Math.clamp(any.orElse(DEFAULT_WIDTH), MIN_TEXT_WIDTH, MAX_TEXT_WIDTH);
  }

  /**
   * {@return whether text on the standard output stream may have colours: false if the stream is
   * not a terminal, or the user has disabled colours}
   */
  public static boolean hasColours() {
    return canMoveCursor() && System.getenv().getOrDefault("NO_COLOR", "").isEmpty();
  }

  /** {@return whether the standard output stream is a terminal on which text can be replaced} */
  public static boolean canMoveCursor() {
    // Picocli checks System.console(), which exists without a terminal from JDK 22 on.
    return width(STANDARD_OUTPUT).isPresent() && !"dumb".equals(System.getenv("TERM"));
  }

  /**
   * {@return whether a stream of this process is known to be a pipe or a socket, so that writing
   * fails only if the reader has exited}
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
   * {@return the width of the terminal of a file descriptor, in columns; empty if the descriptor is
   * not a terminal}
   *
   * @param descriptor the file descriptor
   */
  public static OptionalInt width(int descriptor) {
    return size(descriptor, 1, DEFAULT_WIDTH);
  }

  /**
   * {@return the height of the terminal of a file descriptor, in lines; empty if the descriptor is
   * not a terminal}
   *
   * @param descriptor the file descriptor
   */
  public static OptionalInt height(int descriptor) {
    return size(descriptor, 0, DEFAULT_HEIGHT);
  }

  private static OptionalInt size(int descriptor, int index, int unknown) {
    if (isPipe(descriptor)) {
      return OptionalInt.empty(); // without linking a C function, which would take longer
    }
    try (Arena arena = Arena.ofConfined()) {
      // struct winsize: rows, columns, and two unused fields; 16 bits each
      MemorySegment size = arena.allocate(ValueLayout.JAVA_SHORT, 4);
      if (Posix.ioctl(descriptor, TIOCGWINSZ, size) != 0) {
        return OptionalInt.empty();
      }
      int value = Short.toUnsignedInt(size.getAtIndex(ValueLayout.JAVA_SHORT, index));
      return OptionalInt.of(value == 0 ? unknown : value);
    }
  }
}
