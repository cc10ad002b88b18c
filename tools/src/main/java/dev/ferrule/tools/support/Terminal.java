// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import dev.ferrule.bindings.libc.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.OptionalInt;

/** The terminal that a stream of the process may be connected to. */
public final class Terminal {

  /** The file descriptor of the standard error stream. */
  public static final int STANDARD_ERROR = 2;

  private static final long TIOCGWINSZ = 0x5413;
  private static final int DEFAULT_WIDTH = 80;

  private Terminal() {}

  /**
   * Returns how wide the terminal is that a file descriptor is connected to.
   *
   * @param descriptor the file descriptor
   * @return its width in columns; empty if it is not a terminal
   */
  public static OptionalInt width(int descriptor) {
    try (Arena arena = Arena.ofConfined()) {
      // struct winsize: rows, columns, and two that nobody fills in; 16 bits each
      MemorySegment size = arena.allocate(ValueLayout.JAVA_SHORT, 4);
      if (LibC.ioctl.makeInvoker(LibC.C_POINTER).apply(descriptor, TIOCGWINSZ, size) != 0) {
        return OptionalInt.empty();
      }
      int columns = Short.toUnsignedInt(size.getAtIndex(ValueLayout.JAVA_SHORT, 1));
      return OptionalInt.of(columns == 0 ? DEFAULT_WIDTH : columns);
    }
  }
}
