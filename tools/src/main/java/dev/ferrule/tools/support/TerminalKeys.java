// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import dev.ferrule.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The keys of the terminal on standard input, read without Enter and without an echo. */
final class TerminalKeys implements AutoCloseable {

  private static final int STANDARD_INPUT = 0;

  private static final long TCGETS = 0x5401;
  private static final long TCSETS = 0x5402;

  /** At least the size of struct termios of the kernel: four words of flags, and 20 bytes. */
  private static final long TERMIOS_SIZE = 64;

  /** The offset of c_lflag, whose bits ICANON and ECHO are cleared. */
  private static final long LOCAL_FLAGS = 12;

  private static final int ICANON = 2;
  private static final int ECHO = 8;

  private static final short POLLIN = 1;

  /** Not closed explicitly: a signal closes this object while another thread waits for a key. */
  private final Arena arena = Arena.ofAuto();

  private final MemorySegment before;
  private final MemorySegment poll = arena.allocate(ValueLayout.JAVA_INT, 2); // struct pollfd
  private final MemorySegment key = arena.allocate(1);

  private TerminalKeys(MemorySegment before) {
    this.before = arena.allocate(TERMIOS_SIZE, Integer.BYTES).copyFrom(before);
    poll.set(ValueLayout.JAVA_INT, 0, STANDARD_INPUT);
    poll.set(ValueLayout.JAVA_SHORT, 4, POLLIN);
  }

  /** Sets the terminal to single keys; empty if standard input is not a terminal. */
  static Optional<TerminalKeys> open() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mode = arena.allocate(TERMIOS_SIZE, Integer.BYTES);
      if (Posix.ioctl(STANDARD_INPUT, TCGETS, mode) != 0) {
        return Optional.empty();
      }
      TerminalKeys keys = new TerminalKeys(mode);
      int flags = mode.get(ValueLayout.JAVA_INT, LOCAL_FLAGS);
      mode.set(ValueLayout.JAVA_INT, LOCAL_FLAGS, flags & ~(ICANON | ECHO));
      Posix.ioctl(STANDARD_INPUT, TCSETS, mode);
      return Optional.of(keys);
    }
  }

  /** Waits for a key; returns whether there was one in time, or the end of the input. */
  boolean await(long nanos) {
    return Posix.poll(poll, 1, (int) TimeUnit.NANOSECONDS.toMillis(nanos) + 1) > 0;
  }

  /** Returns the key for which {@link #await} has returned true; -1 at the end of the input. */
  int read() {
    return Posix.read(STANDARD_INPUT, key) == 1 ? key.get(ValueLayout.JAVA_BYTE, 0) : -1;
  }

  /** Restores the terminal. */
  @Override
  public void close() {
    Posix.ioctl(STANDARD_INPUT, TCSETS, before);
  }
}
